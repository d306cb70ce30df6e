using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Queries;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Shared;

/// <summary>
/// The membership that a protocol of one view is part of: what lives as long as the membership, and its state now. On the loop. A protocol keeps what never changes in
/// fields of its own, if each message needs it.
/// </summary>
internal interface IViewMember
{
    INode Node { get; }

    GroupRules Rules { get; }

    IMembership Membership { get; }

    /// <summary>The group's name.</summary>
    string Name { get; }

    GroupHostOptions HostOptions { get; }

    HandlerTable Table { get; }

    /// <summary>The stream of events to the handlers.</summary>
    Dispatcher Dispatcher { get; }

    ViewLinks Links { get; }

    PendingCalls Calls { get; }

    QueryTable Queries { get; }

    MessageSlabPool Slabs { get; }

    /// <summary>This member's rank in the current view.</summary>
    int Rank { get; }

    /// <summary>Whether this member holds the group's state.</summary>
    bool Initialised { get; }

    bool IsWedged { get; }

    /// <summary>Whether the primary partition is out of reach: callers wait.</summary>
    bool IsBlocked { get; }

    /// <summary>Whether a hook may still send: the view change that is under way still waits for it.</summary>
    bool Awaits(TerminationContext hook);

    /// <summary>Something happened here in this turn.</summary>
    void Touch();

    /// <summary>Tells the error handler outside of the turn: it is user code.</summary>
    void ReportLater(GroupError error);
}
