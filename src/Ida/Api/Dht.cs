using GroupCore.Basics;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Coordination;
using Ida.Kinds;
using Ida.Maps;

namespace Ida;

/// <summary>One member's part in the DHT of its group. Thread-safe.</summary>
public sealed class Dht : IDhtEvents
{
    private readonly OperationPool<PutOperation> _puts;
    private readonly OperationPool<ChangeOperation> _changes;
    private readonly TaskCompletionSource _serving = new();
    private readonly Lock _gate = new();
    private readonly SharedCompletion _completion = new();
    private SharedCompletion _initialised = new();
    private volatile bool _isInitialised;
    private bool _isReached;
    private bool _isOver;

    internal Dht(DhtLayer layer, DhtOptions options, DeclaredMaps maps)
    {
        (Layer, Options, Maps) = (layer, options, maps);
        layer.Events = this;
        _puts = new(pool => new(this, pool));
        _changes = new(pool => new(this, pool));
    }

    /// <summary>The options it was enabled with.</summary>
    public DhtOptions Options { get; }

    /// <summary>Number of shards.</summary>
    public int Shards => Layer.Shards;

    /// <summary>What this member has done.</summary>
    public DhtCounters Counters => Layer.Counters;

    /// <summary>
    /// Completes when the DHT is closed at this member or the process is no longer in the group. Faults with
    /// <see cref="ShardDepopulatedException"/> when a shard has lost its last initialised member, or with the fault that ended the node.
    /// </summary>
    public Task Completion => _completion.Task;

    internal DhtLayer Layer { get; }

    internal OperationPool<PutOperation> Puts => _puts;

    internal DeclaredMaps Maps { get; }

    internal IPayloadSerializer Serializer => Maps.Serializer;

    /// <summary>Completes when this member has its slot in the founded DHT.</summary>
    internal Task Serving => _serving.Task;

    /// <summary>The map of this name, as this member declared it in <see cref="GroupDhtExtensions.EnableDhtAsync"/> with these types; always the same object.</summary>
    /// <exception cref="UndeclaredMapException">No map of this name is declared; the exception lists the declared maps.</exception>
    /// <exception cref="MapTypeException">The map is declared with other types; the exception names the declared and the requested ones.</exception>
    public DhtMap<TKey, TValue> Map<TKey, TValue>(string name) where TKey : notnull
    {
        ArgumentNullException.ThrowIfNull(name);
        var declared = Maps.Named(name) ?? throw new UndeclaredMapException(name, Maps.Names);
        return declared is DeclaredMap<TKey, TValue> map ? map.Open(this, static (dht, one) => new DhtMap<TKey, TValue>(dht, one)) : throw new MapTypeException(name, declared.KeyType, declared.ValueType, typeof(TKey), typeof(TValue));
    }

    /// <summary>
    /// An id for a later put; store it before the call, for example in a file. With it as <see cref="PutOptions.Operation"/> the put may be called any number of times, at any member, even
    /// after this process has ended: the put is applied at most once, and each call is told how it ended. Taking an id sends nothing.
    /// </summary>
    /// <remarks>
    /// An id is for one put; any member may make the first call. How the put ended is remembered, whether a caller was told or not, until this member has begun 65,536 more puts (taken ids
    /// count) or replicas have no more room for outcomes (<see cref="DhtMemberOptions.MaxOutcomeBytes"/>). Once this member has gone, it is remembered as long as for any other of its puts.
    /// After that, and with an id of another DHT, a call ends with <see cref="OutcomeForgottenException"/>: that call executed nothing, but an earlier one may have. Other pairs under the id of
    /// a put get <see cref="OperationIdReusedException"/>.
    /// </remarks>
    public OperationId NewOperation() => Layer.Coordinator.NewOperation();

    /// <summary>Begins one atomic put over several maps.</summary>
    public DhtBatch NewBatch(PutOptions? options = null) => new(this, options);

    /// <summary>Begins one read over several maps.</summary>
    public DhtReading NewReading(GetOptions? options = null) => new(this, options);

    /// <summary>
    /// Completes when this member has the complete state of its shard: immediately if it has it already, otherwise when the transfer ends. A view
    /// change may give the member a slot of another shard; later calls then wait for the state of that shard.
    /// </summary>
    /// <param name="cancellationToken">Gives up waiting. Nothing else bounds the wait: how long a transfer takes depends on how much is sent.</param>
    /// <exception cref="NotDhtMemberException">The DHT was closed at this member, or the process is no longer in the group.</exception>
    /// <exception cref="ShardDepopulatedException">A shard lost its last initialised member.</exception>
    public Task WhenInitialisedAsync(CancellationToken cancellationToken = default)
    {
        SharedCompletion initialised;
        using (_gate.Hold()) initialised = LatestInitialised(_isInitialised);
        // Without a token, a waiter would stay in the list until the end, and repeated calls would make the list grow.
        return cancellationToken.CanBeCanceled ? initialised.WaitAsync(cancellationToken) : initialised.Task;
    }

    /// <summary>
    /// What this member holds at one moment between call and answer. It is copied a part at a time while operations go on, so a large
    /// slice delays no operation. The copy takes some 40 bytes per entry; values that change meanwhile are kept for it.
    /// </summary>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <exception cref="NotDhtMemberException">The DHT was closed at this member, or the process is no longer in the group.</exception>
    /// <exception cref="ShardDepopulatedException">A shard lost its last initialised member.</exception>
    public async Task<LocalSlice> SnapshotAsync(CancellationToken cancellationToken = default) =>
        LocalSlice.From(await AskAsync(new SnapshotCommand(Layer), cancellationToken).ConfigureAwait(false));

    /// <summary>The shards and the members that hold them, as this member knows them.</summary>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <exception cref="NotDhtMemberException">The DHT was closed at this member, or the process is no longer in the group.</exception>
    /// <exception cref="ShardDepopulatedException">A shard lost its last initialised member.</exception>
    public Task<DhtStatus> StatusAsync(CancellationToken cancellationToken = default) => AskAsync(new StatusCommand(Layer), cancellationToken);

    /// <summary>
    /// Leaves the DHT; the group goes on. If no other member has the state of its shard, this member goes on serving until another is initialised
    /// from it, but at most for <see cref="DhtMemberOptions.HandoverTimeout"/>. Then pending calls end with <see cref="NotDhtMemberException"/>
    /// or <see cref="OutcomeUnknownException"/>, and the slot is free for other members.
    /// </summary>
    /// <remarks>
    /// If no member can take its place (no spare, no joining member, no shard that can spare a member), it leaves at once, and the DHT is
    /// over for all members: they get <see cref="ShardDepopulatedException"/>. To replace the only member of a shard, start the new one first.
    /// <see cref="GroupCore.Groups.Group.LeaveAsync"/> and <see cref="IdaNode.DisposeAsync"/> leave the same way.
    /// </remarks>
    /// <param name="cancellationToken">Gives up waiting; what has begun goes on.</param>
    public async ValueTask CloseAsync(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        try
        {
            await Layer.Node.PostAsync(new CloseCommand(Layer), cancellationToken).ConfigureAwait(false);
        }
        catch (NodeStoppedException)
        {
            // The node has stopped, so this member has left.
            return;
        }
        await _completion.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    internal PutOperation NewPut(PutOptions? options)
    {
        var op = _puts.Rent();
        BeginPut(op, options);
        return op;
    }

    internal ChangeOperation NewChange(PutOptions? options)
    {
        var op = _changes.Rent();
        BeginPut(op, options);
        return op;
    }

    internal void BeginPut(ClientOperation op, PutOptions? options) => op.Begin(OperationKind.Put, LevelOf(options?.Level, nameof(options)), TimeOf(options?.Timeout, nameof(options)));

    /// <summary>The timeout that options ask for; also checks their level.</summary>
    internal TimeSpan TimeOf(PutOptions? options)
    {
        _ = LevelOf(options?.Level, nameof(options));
        return TimeOf(options?.Timeout, nameof(options));
    }

    /// <summary>Map and key of a key's bytes, as text.</summary>
    internal (string Map, string Key) TextOf(ReadOnlySpan<byte> key)
    {
        // Every key belongs to a declared map.
        var map = Maps.Of(key)!;
        return (map.Name, map.TextOf(key[KeyIdentity.MapBytes..]));
    }

    internal static ValueTask<TResult> Submit<TResult>(WriteOperation<TResult> op, PutOptions? options, string operation, string? map, CancellationToken cancellationToken)
    {
        if (options?.Operation is { } named && named.Session == 0) throw new ArgumentException($"{nameof(PutOptions.Operation)} is the empty id; pass the id of an earlier put.", nameof(options));
        op.Requested = options?.Operation;
        if (op.PartCount == 0)
        {
            // Whether that put was executed is not known here.
            if (op.Requested is not null) throw new ArgumentException($"{nameof(PutOptions.Operation)} names an earlier put, but there are no pairs; a retry needs the pairs of that put.", nameof(options));
            op.Drop();
            return cancellationToken.IsCancellationRequested ? ValueTask.FromCanceled<TResult>(cancellationToken) : new(op.Nothing);
        }
        op.Seal("pairs");
        return DhtTraces.Submit(op, operation, map, cancellationToken);
    }

    internal void BeginGet(ClientOperation op, GetOptions? options) => op.Begin(OperationKind.Get, LevelOf(options?.Level, nameof(options)), TimeOf(options?.Timeout, nameof(options)));

    internal DhtMap<TKey, TValue> Own<TKey, TValue>(DhtMap<TKey, TValue> map) where TKey : notnull
    {
        ArgumentNullException.ThrowIfNull(map);
        return ReferenceEquals(map.Owner, this) ? map : throw new ArgumentException("The map is not one of this DHT.", nameof(map));
    }

    void IDhtEvents.OnServing() => Layer.Node.Complete(new ActionCompletion(() => _serving.TrySetResult()));

    void IDhtEvents.OnInitialised(bool initialised)
    {
        _isInitialised = initialised;
        Layer.Node.Complete(new ActionCompletion(ShowInitialised));
    }

    // Completions run in no particular order: each shows the current state.
    private void ShowInitialised()
    {
        bool initialised;
        do
        {
            SharedCompletion reached;
            using (_gate.Hold())
            {
                initialised = _isInitialised;
                reached = LatestInitialised(initialised);
                _isReached = initialised;
            }
            if (initialised) reached.TrySet(Layer.Node, null);
        }
        while (_isInitialised != initialised);
    }

    /// <summary>Called under the lock. A caller may know of a new view before it is shown here; it must not get a completion that was reached in an earlier view.</summary>
    private SharedCompletion LatestInitialised(bool initialised)
    {
        if (initialised || _isOver || !_isReached) return _initialised;
        _isReached = false;
        return _initialised = new();
    }

    void IDhtEvents.OnOver(Exception reason) => Layer.Node.Complete(new ActionCompletion(() =>
    {
        // The completion put here is final, and only this code sets it: every waiter, present or later, learns of the end.
        SharedCompletion waited, over = new();
        over.TrySet(Layer.Node, reason);
        using (_gate.Hold()) (_isOver, waited, _initialised) = (true, _initialised, over);
        // Resumed separately: code that awaits one of them may block in its continuation.
        Layer.Node.Resume(new ActionCompletion(() => waited.TrySet(Layer.Node, reason)));
        Layer.Node.Resume(new ActionCompletion(() => _completion.TrySet(Layer.Node, reason is NotDhtMemberException ? null : reason)));
        _serving.TrySetException(ISharedError.ForCall(reason));
        _ = _serving.Task.Exception;
    }));

    private Task<T> AskAsync<T>(LoopCommand<T> question, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested) return Task.FromCanceled<T>(cancellationToken);
        return Layer.Node.TryPost(question) ? question.Task.WaitAsync(cancellationToken) : AskWhenRoomAsync(question, cancellationToken);
    }

    private async Task<T> AskWhenRoomAsync<T>(LoopCommand<T> question, CancellationToken cancellationToken)
    {
        try
        {
            await Layer.Node.PostAsync(question, cancellationToken).ConfigureAwait(false);
        }
        catch (NodeStoppedException stopped) when (stopped is not NodeFaultedException)
        {
            throw new NotDhtMemberException("The node has stopped.", stopped);
        }
        return await question.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>The level that a call asks for, else the level of the DHT.</summary>
    private ConsistencyLevel LevelOf(ConsistencyLevel? asked, string parameter) => (asked ?? Options.Member.Level) switch
    {
        ConsistencyLevel.Strict or ConsistencyLevel.Ordered => asked ?? Options.Member.Level,
        _ => throw new ArgumentOutOfRangeException(parameter, asked, $"Level is {asked}, which is no defined level; allowed are {ConsistencyLevel.Strict} and {ConsistencyLevel.Ordered}."),
    };

    /// <summary>The timeout that a call asks for, else the timeout of the DHT.</summary>
    private TimeSpan TimeOf(TimeSpan? asked, string parameter) => TimeLimit.Checked(asked ?? Options.Member.Timeout, parameter);
}
