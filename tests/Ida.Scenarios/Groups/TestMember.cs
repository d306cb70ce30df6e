using System.Buffers.Binary;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>A process with one group whose every event goes to the checker; its state is a sum over Sends and a chain over ordered messages.</summary>
internal sealed class TestMember
{
    /// <summary>Part of the message about a delivery ahead of a message that its sender had delivered.</summary>
    public const string BeforeItsCause = "before its cause";

    private readonly GroupCluster _cluster;
    private readonly MemberEnd _end;
    private ulong _sum;
    private ulong _chain = 1;
    private ulong _loadedView;
    private readonly GroupOptions? _options;
    private readonly Action<GroupBuilder>? _more;

    public TestMember(GroupCluster cluster, SimNode node, GroupOptions? options, Action<GroupBuilder>? more, GroupHostOptions? host, CancellationToken token)
    {
        (_cluster, SimNode, _options, _more) = (cluster, node, options, more);
        _end = new(cluster.Simulation);
        Membership = cluster.Oracle.Register(node);
        Membership.Excluded = () =>
        {
            End();
            _end.Excluded();
        };
        host = (host ?? new() { Layers = ToyLayers.All }) with { Serializer = ContractSerializer.Instance };
        Host = new(cluster.Tap(node.Node), Membership, host);
        _ = cluster.Simulation.Spawn(() => JoinAsync(token));
    }

    public SimNode SimNode { get; }

    public ScriptedMembership Membership { get; }

    public GroupHost Host { get; }

    public Group? Group { get; private set; }

    public Exception? JoinError { get; private set; }

    public bool Ended => _end.HasEnded;

    public bool Leaving { get; private set; }

    public ProcessId Id => Membership.Self;

    public bool Usable => Group is not null && !Ended && !Leaving && SimNode.Alive;

    public List<string> Events { get; } = [];

    public ulong Digest => _sum ^ (_chain * 0x9E3779B97F4A7C15);

    private VirtualSynchronyChecker Checker => _cluster.Checker;

    /// <summary>A join after one that failed or was cancelled.</summary>
    public void JoinAgain(CancellationToken token = default)
    {
        JoinError = null;
        _ = _cluster.Simulation.Spawn(() => JoinAsync(token));
    }

    private async Task JoinAsync(CancellationToken token)
    {
        try
        {
            Group = await _cluster.Calls.Begin(CallKind.Join, Id.ToString(), () => Host.JoinAsync("g", g =>
            {
                g.Handle<ulong[]>("fifo", (from, m) => OnMessage(m, ordered: false))
                    .Handle<ulong[]>("ordered", (from, m) => OnMessage(m, ordered: true))
                    .Handle<ulong[]>("peer", OnPeer)
                    .OnQuery<int, int>("ask", (from, q) => q + _cluster.IndexOf(this))
                    .OnView(OnView)
                    .OnError(e => throw new InvalidOperationException(e.ToString()))
                    .Checkpoint(Save, Load);
                _more?.Invoke(g);
            }, _options, token).AsTask(), SimNode, bound: null, () => Ended, token: token);
        }
        catch (Exception error) when (error is ExcludedException or NotMemberException or JoinRefusedException or JoinTimeoutException or OperationCanceledException or NodeStoppedException)
        {
            JoinError = error;
        }
    }

    public void Crash(bool hostAnswers = true)
    {
        End();
        // As an event of its own, without the context of test code.
        _cluster.Simulation.After(TimeSpan.Zero, () => SimNode.Crash(hostAnswers));
    }

    public void End()
    {
        if (Ended) return;
        _end.Crashed();
        Checker.Crashed(Id);
        _cluster.Chains.Crashed(Id);
    }

    public async Task LeaveAsync()
    {
        Leaving = true;
        await Begin(CallKind.Leave, () => Group!.LeaveAsync().AsTask());
        HasLeft();
    }

    /// <summary>It was told that it has left.</summary>
    public void HasLeft()
    {
        if (Ended) return;
        _end.Left();
        Checker.Left(Id);
        _cluster.Chains.Crashed(Id);
    }

    /// <summary>Whether what a handler is called for counts; a handler that begins too late after the end is a violation.</summary>
    private bool Acts(string what)
    {
        if (!Ended) return true;
        if (_end.IsTooLate) _cluster.Violations.Add($"{Id} acts after its end: {what} at {_cluster.Simulation.Now}");
        return false;
    }

    public async Task SendAsync(bool ordered, int bytes = 0)
    {
        ulong id = _cluster.NextMessage();
        Checker.Sent(Id, id, ordered ? MulticastKind.Ordered : MulticastKind.Fifo);
        ulong[] message = [id, LastOrdered, .. new ulong[bytes / 8]];
        try
        {
            await Begin(ordered ? CallKind.OrderedSend : CallKind.Send, () => ordered ? Group!.OrderedSendAsync("ordered", message).AsTask() : Group!.SendAsync("fifo", message).AsTask());
            if (ordered && !Ended) Checker.Returned(id);
        }
        catch (Exception error) when (IsOver(error))
        {
            Checker.Abandoned(id);
        }
    }

    /// <summary>To some member, with or without the state.</summary>
    public Task SendToSomeoneAsync(Prng random, int hops) => SendToAsync(random.Next(Group!.CurrentView.Members.Count), hops);

    public async Task SendToAsync(int rank, int hops, bool chained = false)
    {
        var checker = chained ? _cluster.Chains : Checker;
        var to = Group!.CurrentView.Members[rank].Id;
        ulong id = _cluster.NextMessage();
        checker.PeerSent(Id, to, id);
        try
        {
            await Begin(CallKind.SendTo, () => Group.SendToAsync<ulong[]>(rank, "peer", [id, (ulong)hops, chained ? 1UL : 0]).AsTask());
        }
        catch (Exception error) when (IsOver(error) || error is MemberGoneException)
        {
            checker.Abandoned(id);
        }
    }

    /// <summary>Tells the checkers that everything sent so far has gone out, if no call waits.</summary>
    public void NoteSent()
    {
        if (Group!.Protocol is not { Backlog.Calls: 0, View: { } view }) return;
        Checker.HasSent(Id, view.Id);
        _cluster.Chains.HasSent(Id, view.Id);
    }

    public async Task<bool> FlushAsync()
    {
        var flush = Checker.FlushCalled(Id);
        try
        {
            await Begin(CallKind.Flush, () => Group!.FlushAsync().AsTask());
        }
        catch (Exception error) when (IsOver(error))
        {
            return false;
        }
        if (!Ended) Checker.FlushReturned(flush);
        return !Ended;
    }

    private Task Begin(CallKind kind, Func<Task> call) => _cluster.Calls.Begin(kind, Id.ToString(), call, SimNode, mayBeOver: () => Ended || Leaving || Group!.Completion.IsCompleted);

    private static bool IsOver(Exception error) => error is ExcludedException or NotMemberException or NodeStoppedException;

    /// <summary>The last ordered message that this member has delivered in the current view; its own messages name it.</summary>
    public ulong LastOrdered { get; private set; }

    public HashSet<ulong> DeliveredInView { get; } = [];

    private void OnMessage(ulong[] message, bool ordered)
    {
        if (!Acts($"message {message[0]}")) return;
        Checker.Delivered(Id, message[0]);
        if (ordered)
        {
            ulong view = Group?.CurrentView.Id ?? 0;
            _cluster.ViewOf.TryAdd(message[0], view);
            if (message[1] != 0 && _cluster.ViewOf.GetValueOrDefault(message[1]) == view && !DeliveredInView.Contains(message[1])) _cluster.Violations.Add($"{Id} delivers {message[0]} {BeforeItsCause} {message[1]}");
            DeliveredInView.Add(message[0]);
            LastOrdered = message[0];
            _chain = (_chain * 31) + message[0];
        }
        else _sum += message[0] * 0x9E3779B97F4A7C15;
    }

    private void OnPeer(MemberRef from, ulong[] message)
    {
        if (!Acts($"peer message {message[0]}")) return;
        (message[2] != 0 ? _cluster.Chains : Checker).PeerReceived(Id, message[0]);
        if (message[1] == 0 || Group is null) return;
        _ = SendToAsync(_cluster.Simulation.Random.Next(Group.CurrentView.Members.Count), (int)message[1] - 1, chained: true);
    }

    private void OnView(View view)
    {
        if (!Acts($"view {view.Id}")) return;
        Events.Add($"view {view.Id}");
        DeliveredInView.Clear();
        LastOrdered = 0;
        if (_loadedView == view.Id)
        {
            Checker.CheckpointLoaded(Id, view.Id, Digest);
            _cluster.Chains.CheckpointLoaded(Id, view.Id);
        }
        Checker.ViewInstalled(Id, view, Digest);
        _cluster.Chains.ViewInstalled(Id, view);
    }

    private void Save(System.Buffers.IBufferWriter<byte> to)
    {
        var span = to.GetSpan(24);
        BinaryPrimitives.WriteUInt64LittleEndian(span, Group!.CurrentView.Id + 1);
        BinaryPrimitives.WriteUInt64LittleEndian(span[8..], _sum);
        BinaryPrimitives.WriteUInt64LittleEndian(span[16..], _chain);
        to.Advance(24);
        // More than one chunk, so that faults hit the middle of a transfer.
        for (int i = 0; i < _cluster.StateBytes; i += 4_096)
        {
            to.GetSpan(4_096)[..4_096].Clear();
            to.Advance(4_096);
        }
    }

    private void Load(ReadOnlyMemory<byte> state)
    {
        _loadedView = BinaryPrimitives.ReadUInt64LittleEndian(state.Span);
        _sum = BinaryPrimitives.ReadUInt64LittleEndian(state.Span[8..]);
        _chain = BinaryPrimitives.ReadUInt64LittleEndian(state.Span[16..]);
        Events.Add("load");
    }
}
