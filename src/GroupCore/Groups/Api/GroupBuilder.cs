using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.State;
using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Groups;

/// <summary>
/// What a member does with a group's events, set before it joins: later, all methods throw <see cref="InvalidOperationException"/>. All handlers of a group run
/// one after the other in the order of the events (views, messages, checkpoints), on a thread of the node or of the thread pool; with <see cref="Inline"/>, inside
/// the protocol. All members register the same handlers.
/// </summary>
/// <remarks>
/// A handler must not wait for something that needs a later event of the same group: in a handler queries and <c>FlushAsync</c> throw, and sends complete as soon as
/// they are queued. Work that a synchronous handler starts in parallel (<c>Task.Run</c>) may call them; work of an awaited handler only once that handler has ended.
/// What a handler changes in its context, an <see cref="AsyncLocal{T}"/>, a culture or a <see cref="SynchronizationContext"/>, ends with it.
/// </remarks>
public sealed class GroupBuilder
{
    private const string NotAwaited = $"This handler must not be async, as nobody would await it: register it with {nameof(HandleAsync)}.";
    private readonly IPayloadSerializer _serializer;
    private volatile bool _sealed;

    internal GroupBuilder(IPayloadSerializer serializer) => _serializer = serializer;

    internal HandlerTable Table { get; } = new();

    internal bool HasAsync { get; private set; }

    // The table does not change after Seal: handlers on their worker, and callers, read it without a lock.
    private HandlerTable Open => !_sealed ? Table : throw new InvalidOperationException("The group is configured already: use the builder only inside the configure delegate.");

    /// <summary>Ends the configuration.</summary>
    internal void Seal() => _sealed = true;

    /// <summary>Handles messages of one type. <see cref="ReadOnlyMemory{T}"/> of byte is passed as it was sent, and is valid during the call only.</summary>
    /// <exception cref="ArgumentException"><paramref name="handler"/> is <c>async</c>; <see cref="HandleAsync{T}"/> takes it.</exception>
    public GroupBuilder Handle<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] T>(string name, Action<MemberRef, T> handler)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(handler);
        Open.Add(new MessageEntry<T>(name, _serializer, UserCode.NotAsync(handler, NotAwaited, nameof(handler)), null));
        return this;
    }

    /// <summary>Handles messages of one type; awaited before the next event. <see cref="ReadOnlyMemory{T}"/> of byte is passed as sent, and valid until then only.</summary>
    public GroupBuilder HandleAsync<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] T>(string name, Func<MemberRef, T, ValueTask> handler)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(handler);
        Open.Add(new MessageEntry<T>(name, _serializer, null, handler));
        HasAsync = true;
        return this;
    }

    /// <summary>Handles raw bytes, sent as <see cref="ReadOnlyMemory{T}"/> of byte; they are valid during the call only.</summary>
    /// <exception cref="ArgumentException"><paramref name="handler"/> is <c>async</c>; <see cref="HandleAsync{T}"/> takes it.</exception>
    public GroupBuilder HandleBytes(string name, Action<MemberRef, ReadOnlyMemory<byte>> handler)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(handler);
        Open.Add(new RawEntry(name, UserCode.NotAsync(handler, NotAwaited, nameof(handler))));
        return this;
    }

    /// <summary>
    /// Answers queries. A null answer counts as an answer without a value. An exception ends a query to one member, or with <see cref="Replies.All"/>, with
    /// <see cref="QueryAbortedException"/>. <see cref="ReadOnlyMemory{T}"/> of byte is passed as it was sent, and is valid during the call only, in all query handlers.
    /// </summary>
    public GroupBuilder OnQuery<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] TQuery, [DynamicallyAccessedMembers(TrimmedContracts.Kept)] TReply>(
        string name, Func<MemberRef, TQuery, TReply> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return OnQuery<TQuery, TReply>(name, (from, query) => handler(from, query) is { } reply ? QueryAnswer<TReply>.Of(reply) : QueryAnswer<TReply>.Null);
    }

    /// <summary>Answers queries with a value, with <see cref="QueryAnswer{TReply}.Null"/> or with <see cref="QueryAnswer{TReply}.Abort"/>.</summary>
    public GroupBuilder OnQuery<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] TQuery, [DynamicallyAccessedMembers(TrimmedContracts.Kept)] TReply>(
        string name, Func<MemberRef, TQuery, QueryAnswer<TReply>> handler)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(handler);
        Open.Add(new QueryEntry<TQuery, TReply>(name, _serializer, awaited: false, (from, query) => new(handler(from, query))));
        return this;
    }

    /// <summary>Answers queries; awaited before the next event of the group.</summary>
    public GroupBuilder OnQueryAsync<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] TQuery, [DynamicallyAccessedMembers(TrimmedContracts.Kept)] TReply>(
        string name, Func<MemberRef, TQuery, ValueTask<QueryAnswer<TReply>>> handler)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(handler);
        Open.Add(new QueryEntry<TQuery, TReply>(name, _serializer, awaited: true, handler));
        HasAsync = true;
        return this;
    }

    /// <summary>Called for every view, in order with the messages.</summary>
    /// <exception cref="ArgumentException"><paramref name="handler"/> is <c>async</c>.</exception>
    public GroupBuilder OnView(Action<View> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        Open.OnView.Add(UserCode.NotAsync(handler, "A view handler must not be async: nobody awaits it, and messages of the view would be handled while it still runs.", nameof(handler)));
        return this;
    }

    /// <summary>Called when a view change begins; the flush waits for each hook's <see cref="TerminationContext.Done"/>, at most 2 s.</summary>
    /// <exception cref="ArgumentException"><paramref name="handler"/> is <c>async</c>; <see cref="OnViewProposedAsync"/> takes it.</exception>
    public GroupBuilder OnViewProposed(Action<Proposal, TerminationContext> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        Open.OnProposed.Add(UserCode.NotAsync(handler, $"This hook must not be async, as nobody would await it: use {nameof(OnViewProposedAsync)}.", nameof(handler)));
        return this;
    }

    /// <summary>
    /// As <see cref="OnViewProposed"/>, with a hook that ends when its task ends: if that throws, <see cref="OnError"/> gets the exception. Meanwhile the group's other
    /// events are handled, such as messages that answer what the hook sends.
    /// </summary>
    public GroupBuilder OnViewProposedAsync(Func<Proposal, TerminationContext, ValueTask> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        Open.OnProposed.Add((proposal, context) => _ = context.DoneWith(handler(proposal, context)));
        return this;
    }

    /// <summary>
    /// State that joiners get: <paramref name="save"/> writes all of it, between the last message of one view and the first of the next, and <paramref name="load"/>
    /// replaces it at the joiner before its first view. <paramref name="save"/> must have written everything when it returns: if the writer is used later, it throws
    /// <see cref="InvalidOperationException"/>, and joiners that were not sent the state yet are refused. A save that writes nothing for
    /// <see cref="GroupHostOptions.SaveTimeout"/> is given up, and its joins are refused.
    /// </summary>
    /// <exception cref="ArgumentException"><paramref name="save"/> or <paramref name="load"/> is <c>async</c>.</exception>
    public GroupBuilder Checkpoint(Action<IBufferWriter<byte>> save, Action<ReadOnlyMemory<byte>> load)
    {
        ArgumentNullException.ThrowIfNull(save);
        ArgumentNullException.ThrowIfNull(load);
        (Open.Save, Open.Snapshot, Open.Load) = (StateWriter.NotAsync(save, nameof(save)), null, Loading(load));
        return this;
    }

    /// <summary>
    /// As <see cref="Checkpoint"/>, for large states: <paramref name="snapshot"/> takes an immutable or copy-on-write picture at the view event and returns an action that
    /// writes it, perhaps while the next view's messages are handled. The writer throws when more than <see cref="GroupHostOptions.MaxCheckpointBytes"/> are written (joiners
    /// then get <see cref="JoinRefusedException"/>) and when the view that the state is for is over. The returned action must not be <c>async</c>: such a state is not
    /// saved, and its joiners are refused.
    /// </summary>
    /// <exception cref="ArgumentException"><paramref name="load"/> is <c>async</c>.</exception>
    public GroupBuilder CheckpointSnapshot(Func<Action<IBufferWriter<byte>>> snapshot, Action<ReadOnlyMemory<byte>> load)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        ArgumentNullException.ThrowIfNull(load);
        (Open.Save, Open.Snapshot, Open.Load) = (null, snapshot, Loading(load));
        return this;
    }

    private static Action<ReadOnlyMemory<byte>> Loading(Action<ReadOnlyMemory<byte>> load) =>
        UserCode.NotAsync(load, "The load delegate must not be async: it must have replaced the whole state when it returns.", nameof(load));

    /// <summary>Called for handlers, hooks and checkpoints that failed, for messages that no handler takes and for slow members; by default these are only counted, if at all.</summary>
    /// <exception cref="ArgumentException"><paramref name="handler"/> is <c>async</c>.</exception>
    public GroupBuilder OnError(Action<GroupError> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        Open.OnError = UserCode.NotAsync(handler, "The error handler must not be async: nobody awaits it, and an exception after its first await would end the process.", nameof(handler));
        return this;
    }

    /// <summary>Short text about this member in the views of this group; default <see cref="GroupHostOptions.Tag"/>.</summary>
    public GroupBuilder Tag(string tag)
    {
        Open.Tag = tag;
        return this;
    }

    /// <summary>Runs the handlers inside the protocol's turn, so that what they send leaves with the same write: they must be short and wait for nothing.</summary>
    public GroupBuilder Inline()
    {
        Open.Inline = true;
        return this;
    }
}
