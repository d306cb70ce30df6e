using GroupCore.Membership;
using GroupCore.Transport;
using GroupCore.Wire;
using Oracle.Client;
using Oracle.Detection;
using Oracle.Frames;
using Oracle.Raft;

namespace Oracle.Tests;

/// <summary>What a link says about the process behind it, depending on the address that was dialled (failure-detection.md#what-a-proxys-address-says).</summary>
public sealed class MonitoredAddressTests
{
    private static readonly NodeAddress s_registered = new("127.0.0.1:7001"), s_proxy = new("127.0.0.1:9001");
    private readonly LogBus _bus = new();

    /// <summary>The process was first reached at a proxy's address, which is among the seeds. The proxy restarts, and the process lives.</summary>
    [Theory]
    [InlineData(nameof(LinkFault.Refused))]
    [InlineData(nameof(LinkFault.Replaced))]
    [InlineData(nameof(LinkFault.WrongCluster))]
    public void What_happens_at_an_address_that_is_not_its_own_says_nothing_of_a_process(string named)
    {
        var fault = Enum.Parse<LinkFault>(named);
        Assert.NotEmpty(Reported(fault, s_registered, out bool gone));
        Assert.True(gone);
        Assert.Empty(Reported(fault, s_proxy, out gone));
        Assert.False(gone);
    }

    /// <summary>Nobody else would look at the link, and what is queued for the process would count against this node as long as the connection is up.</summary>
    [Fact]
    public void The_link_to_an_excluded_process_is_looked_at_by_a_process_that_did_not_watch_it()
    {
        var node = new LogBus.Part(_bus, 2, new OneLink(s_registered));
        var directory = new OracleDirectory(node);
        List<(int Peer, bool Gone)> dropped = [];
        var detector = new FailureDetector(node, new(), new FrameSender(node), directory, new(node, new(node), directory)) { OnDropped = (peer, gone) => dropped.Add((peer, gone)) };
        detector.OnLinkUp(0);
        detector.Excluded(new(OneLink.Other + 1, 1));
        Assert.Empty(dropped);
        detector.Excluded(new(OneLink.Other, 1));
        Assert.Equal([(0, false)], dropped);
    }

    /// <summary>What is queued for the process would count against this node as long as a group suspects it, perhaps until this process leaves the group.</summary>
    [Fact]
    public void A_process_that_is_suspected_and_watched_no_longer_holds_no_link()
    {
        var links = new OneLink(s_registered);
        var node = new LogBus.Part(_bus, 2, links);
        var directory = new OracleDirectory(node);
        List<(int Peer, bool Gone)> dropped = [];
        var detector = new FailureDetector(node, new(), new FrameSender(node), directory, new(node, new(node), directory)) { OnDropped = (peer, gone) => dropped.Add((peer, gone)) };
        Subject other = new(new(OneLink.Other, 1), s_registered, 0, 0);
        for (int again = 1; again <= 2; again++)
        {
            detector.Assign([other]);
            _bus.Pass(Durations.Second);
            detector.Step();
            detector.Suspect(other.Id, Suspicion.FlushStall);
            Assert.Equal((1, again - 1), (links.Holders, dropped.Count));
            detector.Assign([]);
            Assert.Equal((0, again), (links.Holders, dropped.Count));
        }
        detector.Withdraw(other.Id);
        Assert.Equal((0, 2), (links.Holders, dropped.Count));
    }

    private List<SuspectFrame> Reported(LinkFault fault, NodeAddress reachedAt, out bool gone)
    {
        var links = new OneLink(reachedAt);
        var node = new LogBus.Part(_bus, 2, links);
        var directory = new OracleDirectory(node);
        directory.Learn(new Configuration([new(OneLink.Other, s_registered)], []));
        bool heard = false;
        var detector = new FailureDetector(node, new(), new FrameSender(node), directory, new(node, new(node), directory)) { OnGone = _ => heard = true };
        detector.Assign([new(new(OneLink.Other, 1), s_registered, 0, 0)]);
        detector.OnFault(0, fault);
        gone = heard;
        return links.Sent;
    }

    private sealed class OneLink(NodeAddress reachedAt) : ILinks
    {
        public const ulong Other = 1;
        private byte[] _frame = [];

        public List<SuspectFrame> Sent { get; } = [];

        public int Holders { get; private set; }

        public NodeAddress Local { get; } = new("127.0.0.1:7002");

        public bool IsFull => false;

        public TimeSpan TimeToRoom => default;

        public int Open(NodeAddress address, ulong nodeId = 0) => 0;

        public void Close(int peer)
        {
        }

        void ILinks.Hold(int peer) => Holders++;

        void ILinks.Release(int peer) => Holders--;

        public void Probe(int peer)
        {
        }

        public ulong NodeIdOf(int peer) => Other;

        public NodeAddress AddressOf(int peer) => reachedAt;

        public long Backlog(int peer) => 0;

        public long Room(int peer) => 1;

        public Span<byte> Reserve(int size) => _frame = new byte[size];

        public Span<byte> Reserved(int size) => throw new NotSupportedException();

        public void Send(int peer, int length)
        {
            Assert.True(FrameHeader.TryRead(_frame, out var header));
            Assert.True(FrameCodec.TryRead(header.Type, _frame.AsSpan(FrameHeader.Size), out _, out var frame));
            if (frame is SuspectFrame suspect) Sent.Add(suspect);
        }

        public void Send(ReadOnlySpan<int> peers, int length) => Send(peers[0], length);
    }
}
