using GroupCore.Membership;

namespace Ida.Testing.Checking;

/// <content>Views and state: G1, G2, G13; and what must hold at the end of a view: G3, G6, G9, G12.</content>
public sealed partial class VirtualSynchronyChecker
{
    /// <summary>
    /// A process installs a view: called at its view event, after the last delivery of the view before. <paramref name="digest"/> is that of its state at this instant; null
    /// when it has no state, or states are not judged.
    /// </summary>
    public void ViewInstalled(ProcessId process, View view, ulong? digest = null)
    {
        ArgumentNullException.ThrowIfNull(view);
        var member = Act(process);
        if (!_views.TryGetValue(view.Id, out var known)) _views[view.Id] = known = new(view);
        else if (!view.Members.Select(m => m.Id).SequenceEqual(known.View.Members.Select(m => m.Id)))
            Report(GroupGuarantee.ViewAgreement, member, view.Id, $"it has members {List(view)}, others have {List(known.View)}");
        if (view.RankOf(process) < 0) Report(GroupGuarantee.SelfInclusion, member, view.Id, $"it is not in {List(view)}");
        if (_views.TryGetValue(view.Id - 1, out var before)) before.Next ??= known.View;
        CheckRun(member, view, before);

        if (member.View != 0 && member.View + 1 == view.Id && before is not null) Close(member, before);
        member.View = view.Id;
        member.Deliveries = new(member);
        member.Initialised |= view.Id == 1 || !_options.StateTransfer || member.CheckpointView != 0;
        CheckOwn(member, view.Id);
        CheckChannels(member, view);
        if (digest is { } state && member.Initialised) AddState(known, member, state, loaded: member.CheckpointView == view.Id);
    }

    /// <summary>
    /// A joiner has loaded the checkpoint that was cut at the beginning of <paramref name="view"/>, before or after it installed that view.
    /// </summary>
    public void CheckpointLoaded(ProcessId process, ulong view, ulong? digest = null)
    {
        var joiner = Act(process);
        if (joiner.Initialised) Report(GroupGuarantee.StateTransfer, joiner, view, "it loads a checkpoint although it holds the state");
        if (joiner.View != 0 && joiner.View != view) Report(GroupGuarantee.StateTransfer, joiner, joiner.View, $"it loads the checkpoint of view {view}");
        joiner.CheckpointView = view;
        if (joiner.View != 0) joiner.Initialised = true;
        if (digest is not { } state) return;
        if (_views.TryGetValue(view, out var known)) AddState(known, joiner, state, loaded: true);
        else Report(GroupGuarantee.StateTransfer, joiner, view, "it loads the checkpoint of a view that nobody has installed");
    }

    private static string List(View view) => $"[{string.Join(' ', view.Members.Select(m => m.Id))}]";

    private void CheckRun(GroupProcess member, View view, GroupView? before)
    {
        if (member.View != 0)
        {
            if (view.Id != member.View + 1) Report(GroupGuarantee.ViewAgreement, member, view.Id, $"it comes from view {member.View}");
        }
        else if (before is not null && before.View.RankOf(member.Id) >= 0 && member.CheckpointView != view.Id)
            Report(GroupGuarantee.ViewAgreement, member, view.Id, $"its first view is {view.Id}, but it is in view {view.Id - 1} already");
    }

    private void AddState(GroupView view, GroupProcess process, ulong digest, bool loaded)
    {
        (loaded ? view.Loaded : view.States).Add((process, digest));
        if (!_options.StatesAgree) return;
        var (other, expected) = view.States.Count > 0 ? view.States[0] : view.Loaded[0];
        if (expected != digest)
            Report(loaded ? GroupGuarantee.StateTransfer : GroupGuarantee.VirtualSynchrony, process, view.View.Id,
                $"its state is {digest:x}, that of {other.Id} is {expected:x}");
    }

    /// <summary>A member leaves a view for the next one.</summary>
    private void Close(GroupProcess member, GroupView view)
    {
        if (!member.Initialised) return;
        if (view.Reference is { } reference)
        {
            CompareSets(view, member.Deliveries, reference);
            return;
        }
        view.Reference = reference = member.Deliveries;
        ComparedViews++;
        foreach (var message in view.Sent) CheckBound(view, message, reference);
        foreach (var flush in view.Flushes) CheckFlush(view, flush, reference);
        foreach (var leaver in view.Leavers) CompareLeaver(view, leaver);
    }

    private void CompareSets(GroupView view, GroupDeliveries own, GroupDeliveries reference)
    {
        ulong id = view.View.Id;
        if (own.FirstMissing(reference.Order) is { } missing)
            Report(GroupGuarantee.VirtualSynchrony, own.Process, id, $"message {missing} was delivered by {reference.Process.Id}, not here");
        else if (reference.FirstMissing(own.Order) is { } extra)
            Report(GroupGuarantee.VirtualSynchrony, own.Process, id, $"message {extra} was delivered here, not by {reference.Process.Id}");
        else CompareOrder(view, own, reference, reference.Total.Count);
    }

    private void CompareOrder(GroupView view, GroupDeliveries own, GroupDeliveries other, int length)
    {
        int at = own.FirstDifference(other, length);
        if (at >= 0) Report(GroupGuarantee.TotalOrder, own.Process, view.View.Id, $"the order differs from that of {other.Process.Id} at position {at}");
    }

    private void CompareLeaver(GroupView view, GroupDeliveries own)
    {
        if (view.Reference!.FirstMissing(own.Order) is { } extra)
            Report(GroupGuarantee.VirtualSynchrony, own.Process, view.View.Id, $"it delivered message {extra} and left, survivors did not");
        else CompareOrder(view, own, view.Reference, own.Total.Count);
    }

    /// <summary>A member has entered a view: it must have delivered those of its own messages that had gone out in an earlier one.</summary>
    private void CheckOwn(GroupProcess member, ulong before)
    {
        for (; member.Checked < member.Gone && member.Sent[member.Checked] is var message && message.GoneBy < before; member.Checked++)
            if (message.View == 0 && !message.IsUnbound) Report(GroupGuarantee.NoLoss, member, message.GoneBy, $"its message {message.Id} had gone out, it has not delivered it itself");
    }

    /// <summary>A message that a survivor or a leaver of a view sent in it, or that anybody sent before a flush that returned, must be delivered by all that go on.</summary>
    private void CheckBound(GroupView view, GroupMessage message, GroupDeliveries reference)
    {
        if (message.Abandoned || reference.Contains(message.Id)) return;
        if (view.Survives(message.Sender.Id))
            Report(GroupGuarantee.NoLoss, message.Sender, view.View.Id, $"its message {message.Id} was not delivered by {reference.Process.Id}");
        else if (message.IsFlushed) ReportUnflushed(message, view.View.Id, reference);
    }

    private void ReportUnflushed(GroupMessage message, ulong view, GroupDeliveries reference) =>
        Report(GroupGuarantee.Flush, message.Sender, view, $"it had sent message {message.Id} before a flush that returned, {reference.Process.Id} has not delivered it");

    /// <summary>
    /// All that the caller had sent when it called must be delivered, in whatever view it went out: calls wait while a view changes, and flushes wait behind them.
    /// </summary>
    private void BindSent(GroupFlush flush)
    {
        var caller = flush.Caller;
        for (int i = flush.Sent - 1; i >= caller.Begun && caller.Sent[i] is { IsFlushed: false } sent; i--)
        {
            sent.IsFlushed = true;
            if (sent.View != 0 && _views.TryGetValue(sent.View, out var view) && view.Reference is { } reference) CheckBound(view, sent, reference);
        }
    }

    private void CheckFlush(GroupView view, GroupFlush flush, GroupDeliveries reference)
    {
        ulong id = view.View.Id;
        if (reference.FirstMissing(flush.Deliveries.Order.Take(flush.Delivered)) is { } missing)
            Report(GroupGuarantee.Flush, flush.Caller, id, $"it had delivered message {missing} before a flush that returned, {reference.Process.Id} has not");
        int at = flush.Deliveries.FirstDifference(reference, flush.Ordered);
        if (at >= 0)
            Report(GroupGuarantee.Flush, flush.Caller, id,
                $"it had delivered position {at} of the order before a flush that returned, {reference.Process.Id} has another there");
    }
}
