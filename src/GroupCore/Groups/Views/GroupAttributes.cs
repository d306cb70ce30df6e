using GroupCore.Diagnostics;

namespace GroupCore.Groups.Views;

/// <summary>What a membership says about itself in numbers.</summary>
internal static class GroupAttributes
{
    public static AttributeSet<GroupProtocol> All { get; } = new("node, group",
    [
        new("ida.group.view", AttributeKind.Gauge, "1", "the number of the current view", static group => (long)(group.View?.Id ?? 0)),
        new("ida.group.members", AttributeKind.Gauge, "{member}", "members of the current view", static group => group.View?.Members.Count ?? 0),
        new("ida.group.changing", AttributeKind.Gauge, "1", "1 while a view change is under way, else 0", static group => group.Status.ChangingView ? 1 : 0),
        new("ida.group.events.waiting", AttributeKind.UpDownCounter, "{event}", "messages and views that handlers have not handled", static group => group.Dispatcher.Waiting),
        new("ida.group.calls.waiting", AttributeKind.UpDownCounter, "{call}", "calls on their way to the loop, or waiting there to be sent", static group => group.Calls.Budget.Calls),
        new("ida.group.calls.bytes", AttributeKind.UpDownCounter, "By", "bytes of these calls", static group => group.Calls.Budget.Bytes),
        new("ida.group.calls.refused", AttributeKind.Counter, "{call}", "calls that got SendQueueFullException", static group => group.Watch.Refused),
        new("ida.group.queries.open", AttributeKind.UpDownCounter, "{query}", "queries of this member that are not complete", static group => group.Queries.Count),
        new("ida.group.window.used", AttributeKind.UpDownCounter, "By", "bytes in use of this member's window for unstable multicasts", static group => group.WindowUsed),
        new("ida.group.errors", AttributeKind.Counter, "{error}", "errors in user code, and messages that no handler takes", static group => group.Watch.Errors),
        new("ida.group.hooks.given_up", AttributeKind.Counter, "{hook}", "view changes that went on without this member's hooks", static group => group.Status.HooksGivenUp),
        new("ida.group.members.slow", AttributeKind.Counter, "{member}", "how often a member was found to hold the others up", static group => group.Status.SlowMembers),
    ]);
}
