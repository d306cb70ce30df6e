using GroupCore.Groups.Buffers;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>What the groups of one process share, and what they tell of themselves. On the loop, unless stated otherwise.</summary>
internal interface IGroupHost
{
    INode Node { get; }

    /// <summary>The rules that the groups keep: all, outside of tests.</summary>
    GroupRules Rules { get; }

    /// <summary>The layers that may be attached.</summary>
    LayerTable Layers { get; }

    IMembership Membership { get; }

    GroupHostOptions Options { get; }

    Suspicions Suspicions { get; }

    MessageSlabPool Slabs { get; }

    BindTable Bindings { get; }

    /// <summary>Whether this process is leaving the system.</summary>
    bool Departs { get; }

    /// <summary>On any thread: a number that no other query of this process ever has, in any group or later membership, since answers may come late.</summary>
    ulong NextQuery();

    /// <summary>Something happened in a group in this turn: it takes part in the end of the turn.</summary>
    void Touched(GroupProtocol group);

    /// <summary>A group is over here, but its handlers have not handled all earlier events.</summary>
    void AwaitHandlers(GroupProtocol group);

    /// <summary>The handlers of a group have handled all that came before its end.</summary>
    void HandlersEnded(GroupProtocol group);

    /// <summary>A group is over here.</summary>
    void Forget(GroupProtocol group);
}
