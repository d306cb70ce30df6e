using GroupCore.Groups.Shared;
using GroupCore.Membership;

namespace GroupCore.Groups.State;

/// <summary>The membership for which a joiner loads the state. On the loop.</summary>
internal interface IStateTaker : IViewMember
{
    /// <summary>How far the join of this member is.</summary>
    JoinProgress Joining { get; }

    /// <summary>The checkpoint of this view is here: it is loaded before the view event and what was held.</summary>
    void Load(View view, ReadOnlyMemory<byte> state, long took);

    /// <summary>The join cannot succeed: this member leaves again, and its caller hears why.</summary>
    void FailJoin(string reason);

    /// <summary>The giver of the checkpoint is silent: asks for another view, which brings another checkpoint.</summary>
    void Requeue();
}
