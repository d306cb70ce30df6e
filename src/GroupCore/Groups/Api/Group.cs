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
/// <see cref="NotMemberException"/> or <see cref="PoisonedException"/> when the membership is over; a cancelled call is not sent, unless it was already.
/// </remarks>
public sealed partial class Group : IAsyncDisposable
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

    internal Group(GroupProtocol protocol) => Protocol = protocol;

    internal GroupProtocol Protocol { get; }

    /// <summary>The group's name.</summary>
    public string Name => Protocol.Name;

    /// <summary>The view in which the handlers are: in a handler, the view of its message.</summary>
    public View CurrentView => _view ?? throw new NotMemberException(Name, "it has not joined yet");

    /// <summary>The own rank in <see cref="CurrentView"/>.</summary>
    public int Rank => CurrentView.RankOf(Self);

    /// <summary>This process.</summary>
    public ProcessId Self => Protocol.Membership.Self;

    /// <summary>Messages that no handler took.</summary>
    public long UnhandledCount => Volatile.Read(ref _unhandled);

    /// <summary>Handlers that threw.</summary>
    public long FailedCount => Volatile.Read(ref _failed);

    /// <summary>What the group waits for, at this instant.</summary>
    public GroupStatus Status => Protocol.Status;

    /// <summary>
    /// Completes when the membership is over: normally when the others have decided a view without this process at its wish, with an exception when it was lost, and
    /// with <see cref="NotMemberException"/> when <see cref="DisposeAsync"/> waited for that decision in vain: then what was sent and handled last may be known to nobody else.
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
    /// Leaves the group; completes when the view without this process is decided. What was sent before is delivered: it waits until all of that
    /// has gone out, for as long as other members' windows are full. A protocol above the group, such as the DHT, hands over first what only this member holds, in a bounded time of its own; meanwhile nothing more is sent.
    /// It completes when the handlers have handled what came before, so it waits for a stuck handler; <see cref="DisposeAsync"/> does not.
    /// In a handler of this group, for whose end it would wait, it completes as soon as it is asked for, as sends do; <see cref="Completion"/> says when it is over.
    /// </summary>
    /// <param name="cancellationToken">Cancelled before the call, nothing is asked for; later it ends the wait, and not the leaving.</param>
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
        catch (Exception error) when (error is NotMemberException or PoisonedException or GroupOverloadedException)
        {
            // Out is out.
        }
    }

    /// <summary>
    /// Attaches a protocol to the group; it is created and called inside turns. Completes when it has its first view.
    /// A group takes one.
    /// </summary>
    public async ValueTask<TLayer> AttachLayerAsync<TLayer>(Func<IGroupPort, TLayer> create, CancellationToken cancellationToken = default)
        where TLayer : IGroupLayer
    {
        ArgumentNullException.ThrowIfNull(create);
        cancellationToken.ThrowIfCancellationRequested();
        var attachment = new LayerAttachment<TLayer>(Protocol.Node, create);
        Protocol.Post(new CallCommand(() => Protocol.Attach(attachment), attachment.Fail));
        return await attachment.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Leaves as <see cref="LeaveAsync"/> does, but waits, after the hand-over, at most <see cref="GroupHostOptions.DisposeTimeout"/> for what was sent to
    /// go out and the others to decide the view without this process, and then as long for its handlers: what is not handled by then is never handed to a handler, and calls that
    /// wait for it end with <see cref="NotMemberException"/>. A handler that is still at work is not interrupted. In a handler of this group it completes
    /// as soon as it is asked for. <see cref="Completion"/> says whether the others had decided.
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
        catch (Exception error) when (error is NotMemberException or PoisonedException or GroupOverloadedException or NodeStoppedException)
        {
            // The process is going anyway.
        }
    }

    internal void SetView(View view) => _view = view;

    /// <summary>On the worker: the handlers of a view are done. It is published later, in this order.</summary>
    internal void Handled(View view)
    {
        using (_gate.Hold()) _handled.Enqueue(view);
    }

    /// <summary>Gives readers the views that were handled; completions come in no particular order, so it is all there are and not a certain one.</summary>
    internal void Publish() => Tell(static _ => { });

    internal void OnOver(Exception? error) => Tell(group =>
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
        // Each by itself: a reader may block where it goes on.
        foreach (var one in waiting) Protocol.Node.Resume(new ActionCompletion(one.SetResult));
    }

    internal void Report(GroupError error)
    {
        Interlocked.Increment(ref _failed);
        Notify(error);
    }

    internal void Unhandled(uint handler, MemberRef from)
    {
        Interlocked.Increment(ref _unhandled);
        Notify(new($"#{handler:x8}", from, null));
    }

    internal void Notify(GroupError error)
    {
        try
        {
            Protocol.Table.OnError?.Invoke(error);
        }
        catch (Exception)
        {
            // A reporter that throws has nobody left to report to.
        }
    }
}
