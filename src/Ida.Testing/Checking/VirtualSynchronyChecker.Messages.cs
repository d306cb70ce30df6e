using GroupCore.Membership;

namespace Ida.Testing.Checking;

/// <content>Messages: G4, G5, G7, G14 and no duplicates.</content>
public sealed partial class VirtualSynchronyChecker
{
    private readonly Dictionary<(GroupProcess From, GroupProcess To), GroupChannel> _channels = [];
    private readonly Dictionary<ulong, (GroupMessage Message, GroupProcess To)> _peerMessages = [];

    /// <summary>
    /// A process sends a multicast. <paramref name="view"/> is the view it is sent in; 0 when the caller cannot know it, as while a view change holds up the call. Then the
    /// view in which it is first delivered counts.
    /// </summary>
    public void Sent(ProcessId process, ulong message, MulticastKind kind, ulong view = 0)
    {
        var sender = Act(process);
        var sent = new GroupMessage(message, sender, kind, sender.Sent.Count, sender.View);
        if (!_messages.TryAdd(message, sent))
            throw new ArgumentException($"Message {message} is sent twice: numbers must be unique in the group.", nameof(message));
        sender.Sent.Add(sent);
        if (view == 0) return;
        if (view < sender.View)
            Report(GroupGuarantee.SendingView, sender, view, $"message {message} is sent in this view, but the sender is in view {sender.View}");
        Learn(sent, view);
    }

    /// <summary>The call that sent a message ended without success: it may have been sent or not.</summary>
    public void Abandoned(ulong message)
    {
        if (_messages.TryGetValue(message, out var sent)) sent.Abandoned = true;
        if (_peerMessages.TryGetValue(message, out var peer)) peer.Message.Abandoned = true;
    }

    /// <summary>
    /// The call of an ordered message returned with success. Its own member must have delivered it by then, so every member that goes on from the view with that member
    /// delivers it too.
    /// </summary>
    internal void Returned(ulong message)
    {
        if (!_messages.TryGetValue(message, out var sent) || sent is not { Kind: MulticastKind.Ordered, Sender: { Ended: false } sender } || sender.Deliveries.Contains(message)) return;
        if (sent.View == 0 || sent.View == sender.View) Report(GroupGuarantee.NoLoss, sender, sender.View, $"the call of its ordered message {message} returned, and it has not delivered it");
    }

    /// <summary>A process delivers a multicast in the last view it has installed.</summary>
    public void Delivered(ProcessId process, ulong message)
    {
        var member = Act(process);
        Deliveries++;
        if (!_messages.TryGetValue(message, out var sent))
        {
            Report(GroupGuarantee.Integrity, member, member.View, $"it delivers message {message}, which nobody sent");
            return;
        }
        if (sent.View == 0)
        {
            CheckCall(sent, member);
            Learn(sent, member.View);
        }
        CheckPlace(sent, member);
        if (member.Deliveries.Add(sent)) CheckSenderOrder(member, sent);
        else Report(GroupGuarantee.Integrity, member, member.View, $"it delivers message {message} twice");
    }

    /// <summary>A process sends a message to one other. <paramref name="view"/> as in <see cref="Sent"/>.</summary>
    public void PeerSent(ProcessId from, ProcessId to, ulong message, ulong view = 0)
    {
        var (sender, receiver) = (Act(from), Get(to));
        if (!_channels.TryGetValue((sender, receiver), out var channel))
        {
            _channels[(sender, receiver)] = channel = new();
            sender.Outgoing.Add(channel);
        }
        var sent = new GroupMessage(message, sender, MulticastKind.Fifo, channel.Messages.Count, sender.View) { View = view };
        if (!_peerMessages.TryAdd(message, (sent, receiver)))
            throw new ArgumentException($"Message {message} is sent twice: numbers must be unique in the group.", nameof(message));
        channel.Messages.Add(sent);
    }

    /// <summary>A process receives a message that was sent to it alone.</summary>
    public void PeerReceived(ProcessId process, ulong message)
    {
        var receiver = Act(process);
        if (!_peerMessages.TryGetValue(message, out var sent) || sent.To != receiver)
        {
            Report(GroupGuarantee.Integrity, receiver, receiver.View, $"it receives message {message}, which nobody sent to it");
            return;
        }
        CheckChannelOrder(_channels[(sent.Message.Sender, receiver)], sent.Message, receiver);
        if (sent.Message.View == 0)
        {
            CheckCall(sent.Message, receiver);
            sent.Message.View = receiver.View;
        }
        CheckPlace(sent.Message, receiver);
        sent.Message.Received = true;
    }

    private void CheckChannelOrder(GroupChannel channel, GroupMessage message, GroupProcess receiver)
    {
        if (message.Received) Report(GroupGuarantee.PeerMessages, receiver, receiver.View, $"it receives message {message.Id} twice");
        else if (message.Index < channel.Last)
            Report(GroupGuarantee.PeerMessages, receiver, receiver.View, $"it receives message {message.Id} after a later one of {message.Sender.Id}");
        for (int at = channel.Last + 1; at < message.Index; at++)
        {
            if (channel.Messages[at] is { IsUnbound: false } missed)
                Report(GroupGuarantee.PeerMessages, receiver, receiver.View, $"it receives message {message.Id} of {message.Sender.Id} before the earlier {missed.Id}");
        }
        channel.Last = Math.Max(channel.Last, message.Index);
    }

    /// <summary>A message of unknown view counts as sent in the view in which it is first handled. Its sender must have been in that view at the call or since.</summary>
    private void CheckCall(GroupMessage message, GroupProcess member)
    {
        if (member.View >= message.CalledIn && (member.View <= message.Sender.View || _options.HandlersLag)) return;
        Report(GroupGuarantee.SendingView, member, member.View,
            $"it handles message {message.Id}, which was called in view {message.CalledIn} by a process now in view {message.Sender.View}");
    }

    /// <summary>A member handles a message only when it has the state, in the view in which the message was sent, and while the sender is a member.</summary>
    private void CheckPlace(GroupMessage message, GroupProcess member)
    {
        if (!member.Initialised) Report(GroupGuarantee.StateTransfer, member, member.View, $"it handles message {message.Id} before it has the state");
        if (message.View != member.View)
            Report(GroupGuarantee.SendingView, member, member.View, $"it handles message {message.Id}, which was sent in view {message.View}");
        if (_views.TryGetValue(member.View, out var view) && view.View.RankOf(message.Sender.Id) < 0)
            Report(GroupGuarantee.Finalisation, member, member.View, $"it handles message {message.Id} of {message.Sender.Id}, which is not in the view");
    }

    /// <summary>The view of a message becomes known.</summary>
    private void Learn(GroupMessage message, ulong view)
    {
        message.View = view;
        if (!_views.TryGetValue(view, out var known)) return;
        known.Sent.Add(message);
        if (known.Reference is { } reference) CheckBound(known, message, reference);
    }

    private void CheckSenderOrder(GroupProcess member, GroupMessage sent)
    {
        if (sent.IsUnbound) return;
        var due = NextOf(member, sent.Sender, sent.Kind);
        if (due is null || due.Index > sent.Index)
            Report(GroupGuarantee.SenderOrder, member, member.View, $"it delivers message {sent.Id} of {sent.Sender.Id} after a later one of its kind");
        else if (due != sent)
            Report(GroupGuarantee.SenderOrder, member, member.View, $"it delivers message {sent.Id} of {sent.Sender.Id} before the earlier {due.Id}");
        if (due is not null && due.Index <= sent.Index) member.Next[(sent.Sender, sent.Kind)] = sent.Index + 1;
        if (sent.Kind != MulticastKind.Ordered) return;
        var earlier = NextOf(member, sent.Sender, MulticastKind.Fifo);
        if (earlier is not null && earlier.Index < sent.Index)
            Report(GroupGuarantee.SenderOrder, member, member.View,
                $"it delivers the ordered message {sent.Id} of {sent.Sender.Id} before the earlier {earlier.Id}");
    }

    /// <summary>The message of this sender and kind that the member must deliver next. Messages of earlier views are passed over.</summary>
    private static GroupMessage? NextOf(GroupProcess member, GroupProcess sender, MulticastKind kind)
    {
        int at = member.Next.GetValueOrDefault((sender, kind));
        for (; at < sender.Sent.Count; at++)
        {
            var message = sender.Sent[at];
            bool isOver = message.View != 0 && message.View < member.View;
            // The order of a message that may or may not have been sent is not judged, whether it came or not.
            if (message.Kind == kind && !isOver && !message.IsUnbound) break;
        }
        member.Next[(sender, kind)] = at;
        return at < sender.Sent.Count ? sender.Sent[at] : null;
    }

    /// <summary>A member has entered a view: what it exchanged in earlier ones with members that have entered it too must be complete.</summary>
    private void CheckChannels(GroupProcess member, View view)
    {
        foreach (var other in view.Members)
        {
            if (other.Id == member.Id || !_processes.TryGetValue(other.Id, out var peer) || peer.View < view.Id) continue;
            CheckChannel(member, peer, view.Id);
            CheckChannel(peer, member, view.Id);
        }
    }

    private void CheckChannel(GroupProcess from, GroupProcess to, ulong before)
    {
        if (!_channels.TryGetValue((from, to), out var channel)) return;
        for (; channel.Checked < channel.Messages.Count; channel.Checked++)
        {
            var message = channel.Messages[channel.Checked];
            ulong view = message.View != 0 ? message.View : message.GoneBy;
            if (view == 0 || view >= before) return;
            if (!message.Received && !message.IsUnbound)
                Report(GroupGuarantee.PeerMessages, to, view, $"message {message.Id} of {from.Id} was not received");
        }
    }
}
