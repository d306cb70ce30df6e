using GroupCore.Diagnostics;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Multicast;
using GroupCore.Membership;

namespace GroupCore.Groups;

/// <summary>Sending.</summary>
public sealed partial class Group
{
    /// <summary>
    /// Multicasts to all members including this one, first in first out per sender. Completes when the window has room for the message, usually
    /// at once; from then on delivery is certain as long as this process stays a member.
    /// </summary>
    /// <exception cref="HandlerNotRegisteredException">No handler of that name.</exception>
    /// <exception cref="WrongHandlerTypeException">The handler takes another type.</exception>
    /// <exception cref="MessageTooLargeException">More than 64 MB.</exception>
    /// <exception cref="SendQueueFullException">
    /// 65,536 calls or 128 MB of this group wait already. Or more than 1 MB of this group would wait, and all groups and links of this node hold as much as they may.
    /// </exception>
    public ValueTask SendAsync<T>(string handler, T message, CancellationToken cancellationToken = default) =>
        Multicast(handler, message, MessageKind.None, cancellationToken);

    /// <summary>
    /// Multicasts in one total order with all ordered messages of the group. Completes when this member's handler has handled the message; a call
    /// from a handler of this group completes as soon as it is queued. Exceptions as <see cref="SendAsync"/>.
    /// </summary>
    public ValueTask OrderedSendAsync<T>(string handler, T message, CancellationToken cancellationToken = default) =>
        Multicast(handler, message, MessageKind.Ordered, cancellationToken);

    private ValueTask Multicast<T>(string handler, T message, MessageKind kind, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested) return ValueTask.FromCanceled(cancellationToken);
        var entry = Protocol.Table.Resolve(Name, handler, typeof(T), null);
        var call = Write(kind, entry, message, GroupLimits.MessageBytes);
        int bytes = call.Payload.Length;
        call.Detached = Protocol.Upcalls.IsCurrent;
        if (!call.Detached && kind == MessageKind.None && bytes <= GroupLimits.FragmentBytes)
        {
            call.Charged = Protocol.Calls.TryTakeCredit(GroupLimits.Cost(bytes + MessageRecord.HeadOf(MessageKind.Whole)));
            call.Detached = call.Charged;
        }
        return GroupTraces.IsOn ? PostTracedAsync(call, kind == MessageKind.None ? "send" : "ordered send", handler, cancellationToken) : Post(call, cancellationToken);
    }

    /// <summary>
    /// Sends to one member of <see cref="CurrentView"/>, first in first out, exactly once if both stay members. Completes when the message is handed to the link. The call
    /// waits while the receiver has 4,096 messages or 4 MB of this member unhandled or has not loaded the group's state, or the link has no room. A call from a handler of
    /// this group completes as soon as it is queued. A message that a handler sends while it handles a point-to-point message does not wait for the receiver to handle
    /// earlier ones, so it may overtake calls that are not complete. During a view change such a message belongs to the view that ends, if the sender of the message being
    /// handled stays. All other calls wait for the next view, even completed ones of other handlers, and such a message overtakes those too. At a member that is leaving
    /// only such a handler may still send; a message that would then have to wait is not sent, and the group's <c>OnError</c> hears of it.
    /// </summary>
    /// <exception cref="MemberGoneException">The member was gone before the message was sent.</exception>
    /// <exception cref="MessageTooLargeException">More than 1 MB.</exception>
    /// <exception cref="SendQueueFullException">
    /// As for <see cref="SendAsync"/>. Or too many of the group's calls are for this receiver, which the exception names: others can still be sent to. Calls to one receiver
    /// never take more than they leave for all others together. From outside handlers at most 8,192 calls or 16 MB wait for a receiver. Handlers do not wait for it, so
    /// messages of handlers that it has not handled count as well: at most 32,768 messages or 64 MB.
    /// </exception>
    public ValueTask SendToAsync<T>(int rank, string handler, T message, CancellationToken cancellationToken = default)
    {
        if (cancellationToken.IsCancellationRequested) return ValueTask.FromCanceled(cancellationToken);
        var entry = Protocol.Table.Resolve(Name, handler, typeof(T), null);
        var view = ViewOf(rank);
        bool inside = Protocol.Upcalls.IsCurrent;
        ulong handled = inside ? Protocol.Upcalls.CurrentHandling : 0;
        var call = Write(MessageKind.None, entry, message, GroupLimits.PeerBytes, to: Protocol.Calls.Shares.Of(view, rank), canWait: !inside, awaited: handled != 0);
        call.To = view.Members[rank].Id;
        call.Parent = handled;
        call.Detached = inside;
        return GroupTraces.IsOn ? PostTracedAsync(call, "send to", handler, cancellationToken) : Post(call, cancellationToken);
    }

    ValueTask IHookPort.Send<T>(TerminationContext hook, int rank, string handler, T message)
    {
        var entry = Protocol.Table.Resolve(Name, handler, typeof(T), null);
        if ((uint)rank >= (uint)hook.View.Members.Count) throw new ArgumentOutOfRangeException(nameof(rank), rank, $"The view has {hook.View.Members.Count} members.");
        // Not counted in the receiver's share: the message does not wait for the receiver's state, and it ends with the view change.
        var call = Write(MessageKind.None, entry, message, GroupLimits.PeerBytes, awaited: true);
        call.To = hook.View.Members[rank].Id;
        call.Hook = hook;
        call.Detached = true;
        return Post(call, default);
    }

    void IHookPort.End(TerminationContext hook) => Protocol.PostHookEnd(hook);

    /// <summary>
    /// Completes when every multicast that this process sent to the group or delivered before the call is held by all members that stay. Messages to one member
    /// are not waited for.
    /// </summary>
    /// <exception cref="SendQueueFullException">65,536 calls of this group wait already.</exception>
    public async ValueTask FlushAsync(CancellationToken cancellationToken = default)
    {
        NotInHandler(nameof(FlushAsync));
        Protocol.ThrowIfOver();
        // Counted like other calls that wait: many flushes may wait here.
        Protocol.Calls.Budget.Take(0, null, canWait: true);
        try
        {
            await FlushedAsync(cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            Protocol.Calls.Budget.TakeBack(0, null);
        }
    }

    private async Task FlushedAsync(CancellationToken cancellationToken)
    {
        var call = new StabilityWait();
        Protocol.Post(new CallCommand(() => Protocol.Take(call), error =>
        {
            call.Error = error;
            Protocol.Node.Complete(call);
        }));
        using var registration = cancellationToken.CanBeCanceled
            ? cancellationToken.UnsafeRegister((_, token) =>
            {
                call.Cancel(token);
                Protocol.PostCancelled();
            }, null)
            : default;
        await call.Task.ConfigureAwait(false);
    }

    private SendOperation Write<T>(MessageKind kind, HandlerEntry entry, T message, int limit, ulong query = 0, PeerShare? to = null, bool canWait = true, bool awaited = false)
    {
        Protocol.ThrowIfOver(awaited);
        var call = SendOperation.Rent(Protocol, kind, entry.Id);
        try
        {
            if (query != 0 && (kind & MessageKind.Query) != MessageKind.None)
            {
                System.Buffers.Binary.BinaryPrimitives.WriteUInt64LittleEndian(call.Payload.GetSpan(8), query);
                call.Payload.Advance(8);
            }
            if (typeof(T) == typeof(ReadOnlyMemory<byte>))
            {
                var raw = (ReadOnlyMemory<byte>)(object)message!;
                // Checked before a buffer of that size is allocated.
                NotTooLarge(call.Payload.Length + (long)raw.Length, limit);
                raw.Span.CopyTo(call.Payload.GetSpan(raw.Length));
                call.Payload.Advance(raw.Length);
            }
            else Protocol.HostOptions.Serializer.Serialize(call.Payload, message);
            NotTooLarge(call.Payload.Length, limit);
            // The serializer is user code and may have taken long: the membership may be over by now.
            Protocol.ThrowIfOver(awaited);
            Protocol.Calls.Budget.Take(call.Payload.Length, to, canWait);
            call.Share = to;
            return call;
        }
        catch (Exception error)
        {
            if (error is SendQueueFullException) Protocol.Watch.OnRefused();
            call.Recycle();
            throw;
        }
    }

    private static void NotTooLarge(long bytes, int limit)
    {
        if (bytes > limit) throw new MessageTooLargeException(bytes, limit, limit == GroupLimits.MessageBytes ? "message" : "point-to-point message");
    }

    private async ValueTask PostTracedAsync(SendOperation call, string operation, string handler, CancellationToken cancellationToken)
    {
        var activity = GroupTraces.Start(operation, Name, handler);
        await Traced.EndAsync(activity, Post(call, cancellationToken)).ConfigureAwait(false);
    }

    private ValueTask Post(SendOperation call, CancellationToken cancellationToken)
    {
        bool detached = call.Detached;
        var done = detached ? default : call.Task;
        if (!detached) call.CancelBy(cancellationToken);
        return Protocol.Node.TryPost(call) ? done : PostLaterAsync(call, done, cancellationToken);
    }

    private async ValueTask PostLaterAsync(SendOperation call, ValueTask done, CancellationToken cancellationToken)
    {
        var (bytes, share) = (call.Payload.Length, call.Share);
        long charged = call.Charged ? GroupLimits.Cost(bytes + MessageRecord.HeadOf(MessageKind.Whole)) : 0;
        try
        {
            await Protocol.Node.PostAsync(call, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            Protocol.Calls.Budget.TakeBack(bytes, share);
            Protocol.Calls.ReturnCredit(charged);
            call.Recycle();
            throw;
        }
        await done.ConfigureAwait(false);
    }

    /// <summary>The current view; throws when it has no member of that rank.</summary>
    private View ViewOf(int rank)
    {
        var view = CurrentView;
        return (uint)rank < (uint)view.Members.Count ? view : throw new ArgumentOutOfRangeException(nameof(rank), rank, $"The view has {view.Members.Count} members.");
    }

    private void NotInHandler(string call)
    {
        if (Protocol.Upcalls.IsCurrent)
            throw new InvalidOperationException($"{call} in a handler of group '{Name}' would wait for events that wait for the handler: start it outside of the handler.");
    }
}
