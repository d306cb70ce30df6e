namespace Ida.Testing.Checking;

/// <content>The end of a run.</content>
public sealed partial class VirtualSynchronyChecker
{
    /// <summary>
    /// Judges what only the end of a run tells. <paramref name="atRest"/>: all faults are over and nothing is under way. Then live members must agree on the last view as
    /// survivors do on the ones before, everything that they sent must have been delivered, and joiners must have the state.
    /// </summary>
    public void CheckFinal(bool atRest)
    {
        CheckLoadedStates();
        if (_views.Count == 0) return;
        var last = _views.Values.Last();
        var live = _processes.Values.Where(p => !p.Ended && p.View == last.View.Id && p.Initialised).ToList();
        if (!atRest)
        {
            // One sequencer gives all positions of a view until it ends, so what members have is one order so far.
            var longest = live.MaxBy(p => p.Deliveries.Total.Count);
            foreach (var member in live) CompareOrder(last, member.Deliveries, longest!.Deliveries, member.Deliveries.Total.Count);
            return;
        }
        CheckProgress(last);
        if (live.Count == 0) return;
        var reference = live[0].Deliveries;
        ComparedViews++;
        foreach (var member in live.Skip(1)) CompareSets(last, member.Deliveries, reference);
        foreach (var flush in last.Flushes) CheckFlush(last, flush, reference);
        foreach (var message in last.Sent)
            if (message is { IsFlushed: true, Abandoned: false } && !reference.Contains(message.Id)) ReportUnflushed(message, last.View.Id, reference);
        CheckUnseen(live);
        foreach (var member in live)
        {
            foreach (var message in member.Sent)
            {
                bool isLost = !message.IsUnbound && (message.View == 0 || (message.View == last.View.Id && !reference.Contains(message.Id)));
                if (isLost) Report(GroupGuarantee.NoLoss, member, last.View.Id, $"its message {message.Id} was never delivered");
            }
            foreach (var peer in live)
                if (_channels.TryGetValue((member, peer), out var channel)) CheckComplete(channel, member, peer);
        }
    }

    /// <summary>Whether the live members of the last view have delivered equally much. If not, what one has delivered may be on its way to others.</summary>
    internal bool IsEven()
    {
        if (_views.Count == 0) return true;
        ulong last = _views.Keys.Last();
        var live = _processes.Values.Where(p => !p.Ended && p.View == last && p.Initialised).ToList();
        return live.TrueForAll(p => p.Deliveries.Order.Count == live[0].Deliveries.Order.Count);
    }

    private void CheckLoadedStates()
    {
        foreach (var view in _views.Values)
        {
            if (view.States.Count == 0) continue;
            foreach (var (process, digest) in view.Loaded)
            {
                if (!view.States.Exists(s => s.Digest == digest))
                    Report(GroupGuarantee.StateTransfer, process, view.View.Id,
                        $"its state {digest:x} is that of no member: {string.Join(' ', view.States.Select(s => $"{s.Process.Id}={s.Digest:x}"))}");
            }
        }
    }

    private void CheckProgress(GroupView last)
    {
        foreach (var member in last.View.Members)
        {
            var process = Get(member.Id);
            if (process.Ended) continue;
            if (process.View != last.View.Id) Report(GroupGuarantee.Progress, process, process.View, $"it is in view {last.View.Id}, but has not installed it");
            else if (!process.Initialised) Report(GroupGuarantee.Progress, process, process.View, "it never got the state");
        }
    }

    /// <summary>Checks messages that must be delivered whatever became of their senders, and whose view is unknown since nobody delivered them.</summary>
    private void CheckUnseen(List<GroupProcess> live)
    {
        foreach (var sender in _processes.Values)
        {
            foreach (var message in sender.Sent.Where(static m => m is { View: 0, Abandoned: false }))
            {
                if (message.IsFlushed)
                    Report(GroupGuarantee.Flush, sender, sender.View, $"it had sent message {message.Id} before a flush that returned, nobody has delivered it");
                if (message.IsOwed) Report(GroupGuarantee.NoLoss, sender, sender.View, $"it had sent message {message.Id} before it left, nobody has delivered it");
            }
            foreach (var receiver in live)
            {
                if (!_channels.TryGetValue((sender, receiver), out var channel)) continue;
                foreach (var message in channel.Messages.Where(static m => m is { IsOwed: true, Received: false, Abandoned: false }))
                    Report(GroupGuarantee.PeerMessages, receiver, receiver.View, $"message {message.Id} of {sender.Id}, which it sent before it left, was not received");
            }
        }
    }

    private void CheckComplete(GroupChannel channel, GroupProcess from, GroupProcess to)
    {
        foreach (var message in channel.Messages.Where(m => !m.Received && !m.IsUnbound && m.Index >= channel.Checked))
            Report(GroupGuarantee.PeerMessages, to, to.View, $"message {message.Id} of {from.Id} was not received");
    }
}
