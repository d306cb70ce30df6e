using GroupCore.Membership;
using GroupCore.Transport;
using Oracle.Client;
using Oracle.Detection;
using Oracle.Frames;

namespace Oracle.Tests;

/// <summary>Of many processes that are excluded at once, each tick dials a bounded number, in turn.</summary>
public sealed class ExcludedLinksTests
{
    private const int Processes = 300;
    private const int Once = 64;
    private readonly LogBus _bus = new();
    private readonly KnownLinks _links = new();
    private readonly LogBus.Part _node;
    private readonly FailureDetector _detector;
    private readonly List<int> _dialled = [];

    public ExcludedLinksTests()
    {
        _node = new(_bus, 1, _links);
        var sender = new FrameSender(_node);
        var directory = new OracleDirectory(_node);
        _detector = new(_node, new(), sender, directory, new(_node, sender, directory)) { OnDropped = (peer, _) => _dialled.Add(peer) };
        for (int peer = 1; peer <= Processes; peer++) _detector.OnLinkUp(peer);
    }

    [Fact]
    public void Processes_that_are_excluded_in_one_turn_are_dialled_a_bounded_number_with_each_tick()
    {
        for (int peer = 1; peer <= Processes; peer++) _detector.Excluding(IdOf(peer));
        Assert.Equal(Enumerable.Range(1, Once), _dialled);
        for (int tick = 2; _dialled.Count < Processes; tick++)
        {
            _detector.Step();
            Assert.Equal(Math.Min(Processes, tick * Once), _dialled.Count);
        }
        Assert.Equal(Enumerable.Range(1, Processes), _dialled);
        _detector.Step();
        Assert.Equal(Processes, _dialled.Count);
    }

    /// <summary>Each of its groups reports the exclusion, with its proposal and with its view.</summary>
    [Fact]
    public void A_process_that_is_excluded_from_thousands_of_groups_keeps_no_other_waiting()
    {
        for (int group = 0; group < 10 * Once; group++) _detector.Excluding(IdOf(1));
        _detector.Excluding(IdOf(2));
        Assert.Contains(2, _dialled);
        // Processes that are reported again with each tick wait behind those that were not dialled yet.
        for (int tick = 0; tick < 6; tick++)
        {
            for (int peer = 1; peer <= Processes; peer++) _detector.Excluding(IdOf(peer));
            _detector.Step();
        }
        Assert.Equal(Processes, _dialled.Distinct().Count());
    }

    /// <summary>The link may be over when its turn comes, and its number may then belong to another process.</summary>
    [Fact]
    public void A_process_whose_link_is_let_go_of_while_it_waits_is_passed_over()
    {
        for (int peer = 1; peer <= Processes; peer++) _detector.Excluding(IdOf(peer));
        _detector.OnClosing(Processes);
        for (int tick = 0; tick < 6; tick++) _detector.Step();
        Assert.Equal(Enumerable.Range(1, Processes - 1), _dialled);
    }

    /// <summary>The connections were up, and new dials fail. Thousands of dials at once would take all file descriptors every 5 s.</summary>
    [Theory]
    [InlineData(Processes)]
    [InlineData(4_000)]
    public void Processes_that_fell_silent_are_dialled_again_a_bounded_number_with_each_tick_and_each_in_its_turn(int silent)
    {
        var links = new LinkReaper(_node, new());
        for (int peer = 1; peer <= silent; peer++) links.OnFault(peer, LinkFault.Unreachable);
        int before = 0;
        for (int tick = 0; tick < 120; tick++)
        {
            _bus.Pass(100 * Durations.Millisecond);
            links.Step();
            Assert.InRange(_links.Probed.Count - before, 0, Once);
            before = _links.Probed.Count;
        }
        // Where there are not too many, each is dialled as often as is allowed in 12 s.
        if (silent == Processes) Assert.Equal(2 * silent, before);
        Assert.Equal(silent, _links.Probed.Distinct().Count());
    }

    private static ProcessId IdOf(int peer) => new(NodeOf(peer), 1);

    private static ulong NodeOf(int peer) => 1_000 + (ulong)peer;

    private sealed class KnownLinks : ILinks
    {
        public List<int> Probed { get; } = [];

        public NodeAddress Local => LogBus.ReplicaOf(1).Address;

        public bool IsFull => false;

        public TimeSpan TimeToRoom => default;

        public int Open(NodeAddress address, ulong nodeId = 0) => 0;

        public void Close(int peer)
        {
        }

        public void Probe(int peer) => Probed.Add(peer);

        public ulong NodeIdOf(int peer) => NodeOf(peer);

        public NodeAddress AddressOf(int peer) => default;

        public long Backlog(int peer) => 0;

        public long Room(int peer) => 0;

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
