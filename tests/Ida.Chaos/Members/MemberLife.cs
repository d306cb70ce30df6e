using GroupCore.Groups;
using GroupCore.Membership;

namespace Ida.Chaos.Members;

/// <summary>One life of a member's node, for its calls: a call may say that its part is over only if it is. Made when the life begins.</summary>
/// <param name="node">The node, which may be in a later life by now.</param>
/// <param name="leaves">Whether the member was told to leave.</param>
internal sealed class MemberLife(IdaNode node, Func<bool> leaves)
{
    private readonly ProcessId _self = node.Id;

    /// <summary>Its group with the DHT, once it has both.</summary>
    public Group? Group { get; set; }

    public Dht? Dht { get; set; }

    /// <summary>Whether this life is over, or about to be because the member was told to leave.</summary>
    public bool IsOver => leaves() || node.Completion.IsCompleted || node.Id != _self || node.State is MembershipState.Excluded or MembershipState.Stopped or MembershipState.Faulted;

    /// <summary>Whether this life is over, or its membership in a group is.</summary>
    public bool IsOverIn(Group? group) => IsOver || group is { Completion.IsCompleted: true };
}
