using GroupCore.Groups;
using GroupCore.Membership;

namespace Ida.Chaos.Members;

/// <summary>One life of a member's node, for its calls: a call is told that its part is over only where it is. Made when the life begins.</summary>
/// <param name="node">The node, which may be in a later life by now.</param>
/// <param name="leaves">Whether the member was told to leave.</param>
internal sealed class MemberLife(IdaNode node, Func<bool> leaves)
{
    private readonly ProcessId _self = node.Id;

    /// <summary>Its group with the DHT, once it has both.</summary>
    public Group? Group { get; set; }

    public Dht? Dht { get; set; }

    /// <summary>Whether it is over, or about to be since the member was told to leave.</summary>
    public bool IsOver => leaves() || node.Completion.IsCompleted || node.Id != _self || node.State is MembershipState.Excluded or MembershipState.Stopped or MembershipState.Faulted;

    /// <summary>Whether it is, or its membership in a group.</summary>
    public bool IsOverIn(Group? group) => IsOver || group is { Completion.IsCompleted: true };
}
