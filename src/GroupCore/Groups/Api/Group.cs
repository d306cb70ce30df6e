using System.Threading.Channels;
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
/// view event (groupcore-oracle 2, G1–G7, G9, G12–G14). Calls throw <see cref="NotMemberException"/> or <see cref="PoisonedException"/>
/// when the membership is over; a cancelled call is not sent, unless it was already.
/// </remarks>
public sealed partial class Group : IAsyncDisposable
{
    private const int ViewsBehind = 256;
    private readonly Lock _gate = new();
    private readonly List<Channel<View>> _readers = [];
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

    /// <summary>Completes when the membership is over: normally after <see cref="LeaveAsync"/>, with an exception when it was lost.</summary>
    public Task Completion => Protocol.Completion;

    /// <summary>The current view and those that follow. A reader more than 256 views behind misses the oldest of them.</summary>
    public async IAsyncEnumerable<View> Views([System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var channel = Channel.CreateBounded<View>(new BoundedChannelOptions(ViewsBehind) { FullMode = BoundedChannelFullMode.DropOldest, AllowSynchronousContinuations = true });
        lock (_gate)
        {
            if (_view is { } current) channel.Writer.TryWrite(current);
            if (_over) channel.Writer.TryComplete(_error);
            else _readers.Add(channel);
        }
        try
        {
            await foreach (var view in channel.Reader.ReadAllAsync(cancellationToken).ConfigureAwait(false)) yield return view;
        }
        finally
        {
            lock (_gate) _readers.Remove(channel);
        }
    }

    /// <summary>
    /// Leaves the group; completes when the view without this process is decided. What was sent before is delivered. A protocol above the
    /// group, such as the DHT, hands over first what only this member holds, in a bounded time of its own; meanwhile nothing more is sent.
    /// </summary>
    public async ValueTask LeaveAsync(CancellationToken cancellationToken = default)
    {
        Protocol.Post(new CallCommand(Protocol.RequestLeave, Protocol.Abandon));
        try
        {
            await Completion.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception error) when (error is NotMemberException or PoisonedException)
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
        var attachment = new LayerAttachment<TLayer>(Protocol.Node, create);
        Protocol.Post(new CallCommand(() => Protocol.Attach(attachment), attachment.Fail));
        return await attachment.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Leaves as <see cref="LeaveAsync"/> does, but after the hand-over at most for two seconds; then the others find out by themselves.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Completion.IsCompleted) return;
        Protocol.Post(new CallCommand(Protocol.LeaveSoon, Protocol.Abandon));
        try
        {
            await Completion.ConfigureAwait(false);
        }
        catch (Exception error) when (error is NotMemberException or PoisonedException or NodeStoppedException)
        {
            // The process is going anyway.
        }
    }

    internal void SetView(View view) => _view = view;

    internal void Publish(View view)
    {
        Channel<View>[] readers;
        lock (_gate) readers = [.. _readers];
        foreach (var reader in readers) reader.Writer.TryWrite(view);
    }

    internal void OnOver(Exception? error)
    {
        Channel<View>[] readers;
        lock (_gate)
        {
            (_over, _error) = (true, error);
            readers = [.. _readers];
            _readers.Clear();
        }
        foreach (var reader in readers) reader.Writer.TryComplete(error);
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
