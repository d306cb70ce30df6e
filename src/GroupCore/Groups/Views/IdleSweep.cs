using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>
/// While something happens in any group of a process, looks every five seconds for groups in which nothing has happened since the last time: they release memory
/// that grew with their last burst. Source: multicast.md#a-group-at-rest-holds-little.
/// </summary>
internal sealed class IdleSweep(INode node, IReadOnlyList<GroupProtocol> groups) : ITimerTarget
{
    private bool _armed;

    public void Arm()
    {
        if (_armed) return;
        _armed = true;
        node.SetTimer(node.Now + GroupLimits.IdleNanoseconds, this, 0);
    }

    void ITimerTarget.OnTimer(long token)
    {
        _armed = false;
        bool again = false;
        for (int i = 0; i < groups.Count; i++) again |= groups[i].WasActive();
        if (again) Arm();
    }
}
