using System.Buffers;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Wire;
using Oracle;
using Oracle.Raft;

namespace Ida.Scenarios;

/// <summary>Replicas of the log alone, moved by hand: the test says which are reached and which campaign. For schedules that random runs hardly find.</summary>
internal sealed class LogBus
{
    private readonly Queue<(ulong From, ulong To, IFrame Frame)> _frames = new();
    private readonly string? _without;
    private long _now = Durations.Second;

    public LogBus(string? without = null, OracleOptions? options = null, int stateBytes = 1) => (_without, Options, StateBytes) = (without, options ?? new(), stateBytes);

    public OracleOptions Options { get; }

    /// <summary>How large the saved state is, in bytes.</summary>
    public int StateBytes { get; }

    /// <summary>The most bytes of saved states that were under way at once, and how many heartbeats left while any were.</summary>
    public (long Bytes, int Heartbeats) Transfers { get; private set; }

    /// <summary>Whether a link has room for bulk when the log asks for it.</summary>
    public bool HasRoom { get; set; } = true;

    /// <summary>Whether a link still holds what was sent last, when the log asks.</summary>
    public bool Waits { get; set; }

    public SortedDictionary<ulong, Part> Parts { get; } = [];

    public DecisionChecker Checker { get; } = new();

    /// <summary>Processes that none of the others can dial.</summary>
    public HashSet<ulong> Hidden { get; } = [];

    /// <summary>Which processes can reach each other now; frames to others are lost.</summary>
    public HashSet<ulong> Connected { get; } = [];

    public static Replica ReplicaOf(ulong node) => new(node, new($"127.0.0.1:{node}"));

    public ReplicatedLog this[ulong node] => Parts[node].Log;

    public Part Add(ulong node)
    {
        var part = new Part(this, node);
        Parts[node] = part;
        Connected.Add(node);
        return part;
    }

    /// <summary>Only these reach each other from now on.</summary>
    public void Connect(params ulong[] nodes)
    {
        Connected.Clear();
        Connected.UnionWith(nodes);
    }

    /// <summary>Time passes, and nobody does anything.</summary>
    public void Pass(long nanoseconds) => _now += nanoseconds;

    /// <summary>Lets everything that is sent arrive, as far as it can.</summary>
    public void Settle(int rounds = 50)
    {
        for (int round = 0; round < rounds; round++)
        {
            foreach (var part in Parts.Values)
                if (Connected.Contains(part.Id)) part.Log.EndOfTurn();
            if (_frames.Count == 0) return;
            Deliver();
        }
    }

    private void Deliver()
    {
        var parts = _frames.Select(sent => sent.Frame).OfType<SnapshotChunk>().ToList();
        int heartbeats = parts.Count == 0 ? 0 : _frames.Count(sent => sent.Frame is AppendRequest);
        Transfers = (Math.Max(Transfers.Bytes, parts.Sum(part => (long)part.Bytes.Length)), Transfers.Heartbeats + heartbeats);
        for (int count = _frames.Count; count > 0; count--) DeliverOne();
    }

    private void DeliverOne()
    {
        var (from, to, frame) = _frames.Dequeue();
        if (Connected.Contains(from) && Connected.Contains(to)) Parts[to].Log.OnFrame(ReplicaOf(from), frame);
    }

    /// <summary>Lets frames arrive one round at a time until the condition holds; what is still on its way is then lost.</summary>
    public void SettleUntil(Func<bool> condition)
    {
        for (int round = 0; round < 50 && !condition(); round++)
        {
            foreach (var part in Parts.Values)
                if (Connected.Contains(part.Id)) part.Log.EndOfTurn();
            for (int count = _frames.Count; count > 0 && !condition(); count--) DeliverOne();
        }
        _frames.Clear();
    }

    /// <summary>
    /// A process finds its leader silent and campaigns; once it leads, only <paramref name="reaching"/> are connected, and what is sent arrives
    /// until <paramref name="until"/> holds.
    /// </summary>
    public void Campaign(ulong node, ulong[]? reaching = null, Func<bool>? until = null)
    {
        _now += 3 * Durations.Second;
        this[node].OnTimer(0);
        for (int round = 0; round < 20 && this[node].Leading is null && _frames.Count > 0; round++) Deliver();
        if (reaching is not null) Connect(reaching);
        if (until is null) Settle();
        else SettleUntil(until);
    }

    internal sealed class Part : INode, ILogPort, IStateMachine
    {
        private readonly LogBus _bus;

        public Part(LogBus bus, ulong node, ILinks? links = null)
        {
            (_bus, Id) = (bus, node);
            Random = new(node);
            Links = links ?? new NoLinks(ReplicaOf(node).Address);
            Log = new(this, OracleRules.Without(bus._without), bus.Options, this, this) { OnApplied = (index, entry) => bus.Checker.Applied($"{node}", index, entry) };
        }

        public ReplicatedLog Log { get; }

        public ulong Id { get; }

        public long Now => _bus._now;

        /// <summary>How often its state was saved.</summary>
        public int Saves { get; private set; }

        /// <summary>How long this process has been frozen in its present turn.</summary>
        public long Frozen { get; set; }

        long INode.Clock() => Now + Frozen;

        public Prng Random { get; }

        public ILinks Links { get; }

        public NodeCounters Counters { get; } = new();

        string? INode.Without => _bus._without;

        void INode.KeepTurns()
        {
        }

        public TimerHandle SetTimer(long due, ITimerTarget target, long token) => default;

        public void CancelTimer(TimerHandle handle)
        {
        }

        public void Route(FrameType first, FrameType last, IFrameHandler handler)
        {
        }

        public void Observe(ILinkObserver observer)
        {
        }

        public void AtEndOfTurn(ITurnParticipant participant)
        {
        }

        /// <summary>What is to run outside of turns.</summary>
        public Queue<ICompletion> Work { get; } = new();

        /// <summary>What is to run in the next turn.</summary>
        public Queue<NodeCommand> Commands { get; } = new();

        public void Complete(ICompletion work) => Work.Enqueue(work);

        public void Resume(ICompletion work)
        {
        }

        public bool TryPost(NodeCommand command) => false;

        public ValueTask PostAsync(NodeCommand command, CancellationToken cancellationToken)
        {
            Commands.Enqueue(command);
            return default;
        }

        void ILogPort.Send(in Replica to, IFrame frame) => _bus._frames.Enqueue((Id, to.Node, frame));

        bool ILogPort.HasRoom(in Replica to) => _bus.HasRoom;

        LinkMark ILogPort.EndOf(in Replica to) => default;

        bool ILogPort.Holds(in Replica to, LinkMark end) => _bus.Waits;

        bool ILogPort.IsConfirmed(in Replica other) => !_bus.Hidden.Contains(other.Node);

        bool ILogPort.IsIntroduced(in Replica other) => false;

        void ILogPort.OnRoleChanged()
        {
            if (Log?.Leading is not null) _bus.Checker.Leads($"{Id}", Log.Term, Id);
        }

        void ILogPort.OnProgress()
        {
        }

        void ILogPort.RequestTurn()
        {
        }

        void IStateMachine.Apply(ulong index, ReadOnlySpan<byte> content)
        {
        }

        void IStateMachine.Save(IBufferWriter<byte> into)
        {
            Saves++;
            into.Write(new byte[_bus.StateBytes]);
        }

        IRestore IStateMachine.BeginRestore() => new Restore(_bus.StateBytes);
    }

    private sealed class Restore(int bytes) : IRestore
    {
        public bool TryRead(ReadOnlySpan<byte> come, bool all) => !all || come.Length == bytes;

        public void Finish()
        {
        }
    }

    private sealed class NoLinks(NodeAddress local) : ILinks
    {
        public NodeAddress Local { get; } = local;

        public NodeIdentity? IdentityOf(int peer) => peer == 0 ? null : new($"peer {peer}");

        public int Open(NodeAddress address, ulong nodeId = 0) => 0;

        public void Close(int peer)
        {
        }

        public void Probe(int peer)
        {
        }

        public ulong NodeIdOf(int peer) => 0;

        public NodeAddress AddressOf(int peer) => default;

        public long Backlog(int peer) => 0;

        public long Room(int peer) => long.MaxValue;

        public bool IsFull => false;

        public TimeSpan TimeToRoom => TimeSpan.Zero;

        public Span<byte> Reserve(int size) => new byte[size];

        public Span<byte> Reserved(int size) => throw new NotSupportedException();

        public void Send(int peer, int length)
        {
        }

        public void Send(ReadOnlySpan<int> peers, int length)
        {
        }
    }
}
