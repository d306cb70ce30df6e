using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using Ida.Testing;
using Oracle.Detection;

namespace Oracle.Tests;

/// <summary>When a link to a process that nobody can dial is let go (failure-detection.md#links-to-dead-processes-are-let-go).</summary>
public sealed class LinkReaperTests : IFrameHandler, ILinkObserver, ITimerTarget, IDisposable
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private readonly Simulation _simulation = new(5);
    private readonly SimNode _here, _there;
    private readonly LinkReaper _links;
    private readonly List<LinkFault> _faults = [];
    private readonly int _peer;
    private long _frames;

    public LinkReaperTests()
    {
        (_here, _there) = (_simulation.AddNode(), _simulation.AddNode());
        _links = new(_here.Node, new() { IsolationTimeout = 3 * Second, ExclusionTimeout = 7 * Second });
        _here.Node.Observe(this);
        foreach (var node in new[] { _here, _there }) node.Node.Route(FrameType.Data, FrameType.Data, this);
        _peer = _here.Node.Links.Open(_there.Address);
        _here.Node.SetTimer(0, this, 0);
        _here.Post(Say);
        Assert.True(_simulation.RunUntil(() => _frames == 2, Second));
        // Nothing reaches the other node any more, so no dial is answered. Its own frames still arrive.
        _simulation.Network.Cut(_here, _there);
        _here.Post(() => _links.OnDropped(_peer, gone: false));
    }

    [Fact]
    public void A_link_over_which_frames_come_is_kept_though_nobody_can_be_dialled_there()
    {
        for (int i = 0; i < 40; i++)
        {
            _there.Post(() => Say(_there));
            _simulation.Run(Second);
        }
        Assert.Contains(LinkFault.Unreachable, _faults);
        Assert.DoesNotContain(LinkFault.Rejected, _faults);
        Assert.Equal(42, _frames);
        // The link survives the end of the cut.
        _simulation.Network.Heal();
        _simulation.Run(20 * Second);
        Assert.False(_here.Links.Ends[_peer].IsOver);
    }

    [Fact]
    public void A_user_of_a_link_that_is_let_go_of_is_told()
    {
        _simulation.Run(9 * Second);
        Assert.False(_here.Links.Ends[_peer].IsOver);
        _simulation.Run(3 * Second);
        Assert.Equal(LinkFault.Rejected, _faults[^1]);
        Assert.Single(_faults, LinkFault.Rejected);
        Assert.True(_here.Links.Ends[_peer].IsClosed);
    }

    [Fact]
    public void A_user_of_the_link_to_a_process_that_is_gone_is_told()
    {
        _here.Post(() => _links.OnDropped(_peer, gone: true));
        _simulation.Run(Second);
        Assert.Equal(LinkFault.Replaced, Assert.Single(_faults));
        Assert.True(_here.Links.Ends[_peer].IsClosed);
    }

    [Fact]
    public void A_user_of_a_link_that_is_down_is_told_when_all_links_are_closed()
    {
        Assert.True(_simulation.RunUntil(() => _faults.Contains(LinkFault.Unreachable), 9 * Second));
        _here.Post(_links.CloseAll);
        _simulation.Run(Second);
        Assert.Equal(LinkFault.Rejected, _faults[^1]);
        Assert.True(_here.Links.Ends[_peer].IsClosed);
    }

    void IFrameHandler.OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        // The first frame goes to the other node and is answered; all later ones come from there.
        if (_frames++ == 0) Say(_there);
    }

    void ILinkObserver.OnLinkUp(int peer) => _links.OnUp(peer);

    void ILinkObserver.OnLinkFault(int peer, LinkFault fault)
    {
        _faults.Add(fault);
        _links.OnFault(peer, fault);
    }

    void ITimerTarget.OnTimer(long token)
    {
        _links.Step();
        _here.Node.SetTimer(_here.Node.Now + 100_000_000, this, 0);
    }

    public void Dispose() => _simulation.Dispose();

    private void Say() => Say(_here);

    private static void Say(SimNode node)
    {
        var frame = node.Node.Links.Reserve(FrameHeader.Size);
        FrameHeader.Write(frame, FrameType.Data, 0, 0, 0);
        node.Node.Links.Send(0, FrameHeader.Size);
    }
}
