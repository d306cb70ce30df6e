using GroupCore.Basics;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups;

/// <summary>
/// A process group that this process is a member of: all members see the same views, and multicasts are delivered in the view they are
/// sent in, by all members that stay in the group or by none. Thread-safe.
/// </summary>
/// <remarks>
/// Guarantees: virtual synchrony with sending-view delivery, FIFO per sender, one total order of ordered messages, state transfer at the
/// view event (views-and-flush.md#what-it-guarantees, multicast.md#what-it-guarantees, state-transfer.md#what-it-guarantees). Calls throw
/// <see cref="NotMemberException"/> or <see cref="ExcludedException"/> when the membership is over; a cancelled call is not sent, unless it was already.
/// </remarks>
public sealed partial class Group : IAsyncDisposable, IGroupFacade
{
    private const int ViewsBehind = 256;
    private readonly Lock _gate = new();
    private readonly List<ViewReader> _readers = [];
    private readonly Queue<View> _handled = new();
    private volatile View? _view;
    private long _unhandled;
    private long _failed;
    private bool _over;
    private Exception? _error;

    internal Group(IGroupHost host, string name, GroupOptions options, HandlerTable table, ushort slot) => Protocol = new(host, this, name, options, table, slot);

    internal GroupProtocol Protocol { get; }

    /// <summary>The group's name.</summary>
    public string Name => Protocol.Name;

    /// <summary>The view that the handlers have reached; in a handler, the view of its message.</summary>
    public View CurrentView => _view ?? throw new NotMemberException(Name, "it has not joined yet");

    /// <summary>This member's rank in <see cref="CurrentView"/>.</summary>
    public int Rank => CurrentView.RankOf(Self);

    /// <summary>This process.</summary>
    public ProcessId Self => Protocol.Membership.Self;

    /// <summary>How many messages no handler took.</summary>
    public long UnhandledCount => Volatile.Read(ref _unhandled);

    /// <summary>How often a handler, a hook or the load of a state threw.</summary>
    public long FailedCount => Volatile.Read(ref _failed);

    /// <summary>What the group waits for, at this instant.</summary>
    public GroupStatus Status => Protocol.Status;

    /// <summary>
    /// Completes when the membership is over: normally when this process has left and a view without it is decided, with an exception when the membership was lost.
    /// Ends with <see cref="NotMemberException"/> when <see cref="DisposeAsync"/> waited for that view in vain: perhaps no other member knows what this one sent and handled last.
    /// </summary>
    public Task Completion => Protocol.Completion.Task;

    /// <summary>The current view and those that follow. A reader more than 256 views behind misses the oldest of them.</summary>
    public async IAsyncEnumerable<View> Views([System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var reader = new ViewReader(ViewsBehind);
        using (_gate.Hold())
        {
            if (_view is { } current) reader.Add(current);
            if (_over) reader.End(_error);
            else _readers.Add(reader);
        }
        try
        {
            while (true)
            {
                cancellationToken.ThrowIfCancellationRequested();
                View? view;
                Task? news;
                using (_gate.Hold()) view = reader.Take(out news);
                if (view is not null) yield return view;
                else if (news is not null) await news.WaitAsync(cancellationToken).ConfigureAwait(false);
                else yield break;
            }
        }
        finally
        {
            using (_gate.Hold()) _readers.Remove(reader);
        }
    }

    /// <summary>
    /// Leaves the group; completes when the view without this process is decided and the handlers have handled what came before it. It waits even for a stuck handler;
    /// <see cref="DisposeAsync"/> does not. What was sent before is delivered: the call waits until all of it has gone out, however long other members' windows are full.
    /// A protocol above the group, such as the DHT, first hands over what only this member holds, in a bounded time of its own; meanwhile nothing more is sent.
    /// A call from a handler of this group would wait for that handler, so it completes at once; <see cref="Completion"/> says when the membership is over.
    /// </summary>
    /// <param name="cancellationToken">If cancelled before the call, the member does not leave; if cancelled later, only the wait ends and the member still leaves.</param>
    public async ValueTask LeaveAsync(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        bool inside = Protocol.Upcalls.IsCurrent;
        Protocol.Post(new CallCommand(Protocol.RequestLeave, Protocol.Abandon));
        if (inside) return;
        try
        {
            await Protocol.Completion.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception error) when (error is NotMemberException or ExcludedException or GroupOverloadedException)
        {
            // The member is out, though for another reason.
        }
    }

    /// <summary>
    /// Attaches a protocol above the group, which is created and called inside turns. Completes when the protocol has its first view. A group takes one for each of
    /// the <see cref="GroupHostOptions.Layers"/>, each with a port of its own; they hear nothing of each other.
    /// </summary>
    /// <param name="layer">The name and frame types of the layer, as declared there.</param>
    /// <param name="create">Makes the layer, inside a turn.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="InvalidOperationException">The options do not name the layer, or it is attached already.</exception>
    /// <exception cref="NotMemberException">This process is no longer in the group, or is leaving it.</exception>
    internal async ValueTask<TLayer> AttachLayerAsync<TLayer>(LayerFrames layer, Func<IGroupPort, TLayer> create, CancellationToken cancellationToken = default)
        where TLayer : IGroupLayer
    {
        ArgumentNullException.ThrowIfNull(layer);
        ArgumentNullException.ThrowIfNull(create);
        if (Protocol.Layers[layer] is not { } port)
            throw new InvalidOperationException($"The layer {layer} is not among {nameof(GroupHostOptions)}.{nameof(GroupHostOptions.Layers)} of this process.");
        cancellationToken.ThrowIfCancellationRequested();
        var attachment = new LayerAttachment<TLayer>(Protocol.Node, create);
        Protocol.Post(new CallCommand(() => port.Attach(attachment), attachment.Fail));
        return await attachment.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Leaves as <see cref="LeaveAsync"/> does, with bounded waits. After the hand-over it waits at most <see cref="GroupHostOptions.DisposeTimeout"/> until what was sent has
    /// gone out and the view without this process is decided, and then as long for this member's handlers. What is not handled by then is never handed to a
    /// handler, and calls that wait for it end with <see cref="NotMemberException"/>. A running handler is not interrupted. A call from a handler of this group completes at
    /// once. <see cref="Completion"/> says whether that view was decided in time.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        if (Completion.IsCompleted) return;
        bool inside = Protocol.Upcalls.IsCurrent;
        Protocol.Post(new CallCommand(Protocol.LeaveSoon, Protocol.Abandon));
        if (inside) return;
        try
        {
            await Protocol.Completion.WaitAsync().ConfigureAwait(false);
        }
        catch (Exception error) when (error is NotMemberException or ExcludedException or GroupOverloadedException or NodeStoppedException)
        {
            // The process is going anyway.
        }
    }

    void IGroupFacade.SetView(View view) => _view = view;

    void IGroupFacade.Handled(View view)
    {
        using (_gate.Hold()) _handled.Enqueue(view);
    }

    void IGroupFacade.Publish() => Tell(static _ => { });

    void IGroupFacade.OnOver(Exception? error) => Tell(group =>
    {
        (group._over, group._error) = (true, error);
        foreach (var reader in group._readers) reader.End(error);
    });

    private void Tell(Action<Group> then)
    {
        var waiting = new List<TaskCompletionSource>();
        using (_gate.Hold())
        {
            while (_handled.TryDequeue(out var view))
                foreach (var reader in _readers) reader.Add(view);
            then(this);
            foreach (var reader in _readers)
                if (reader.TakeWaiting() is { } one) waiting.Add(one);
            if (_over) _readers.Clear();
        }
        // One completion for each reader: its continuation may block.
        foreach (var one in waiting) Protocol.Node.Resume(new ActionCompletion(one.SetResult));
    }

    void IHookPort.Report(GroupError error)
    {
        Interlocked.Increment(ref _failed);
        Notify(error);
    }

    void IGroupFacade.Unhandled(uint handler, MemberRef from)
    {
        Interlocked.Increment(ref _unhandled);
        Notify(new($"#{handler:x8}", from, null));
    }

    void IGroupFacade.Notify(GroupError error) => Notify(error);

    private void Notify(GroupError error)
    {
        Protocol.Watch.OnError(error);
        try
        {
            Protocol.Table.OnError?.Invoke(error);
        }
        catch (Exception)
        {
            // An error handler that throws has nobody left to tell.
        }
    }
}
