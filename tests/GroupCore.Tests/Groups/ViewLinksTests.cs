using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>The links of a view by rank: who gets a frame, who is here, and what a lost link leaves behind.</summary>
public sealed class ViewLinksTests : IDisposable
{
    private const int Self = 1;
    private readonly Simulation _simulation = new(4);
    private readonly SimNode[] _nodes;
    private readonly List<(int Rank, FrameHeader Header, byte Body)> _received = [];
    private readonly ViewLinks _links;
    private readonly View _view;

    public ViewLinksTests()
    {
        _nodes = [.. Enumerable.Range(0, 3).Select(_ => _simulation.AddNode())];
        for (int rank = 0; rank < 3; rank++) _nodes[rank].Node.Route(FrameType.Data, FrameType.Data, new Receiver(rank, _received));
        _links = new(_nodes[Self].Node, slot: 3);
        _view = ViewOf(7);
    }

    public void Dispose() => _simulation.Dispose();

    private View ViewOf(ulong id) =>
        new(new(1, 1), "g", id, id, new(), [.. _nodes.Select((node, rank) => new ViewMember(new(node.Node.Id, (ulong)rank + 1), node.Address, true, ""))], [], [], [], []);

    private void InTurn(Action work)
    {
        _nodes[Self].Post(work);
        _simulation.Run(TimeSpan.FromSeconds(1));
    }

    private void Connect(bool isIn = true) => InTurn(() => _links.Connect(_view, Self, _ => isIn));

    [Fact]
    public void A_frame_goes_to_those_ranks_with_slot_and_view()
    {
        Connect();
        InTurn(() =>
        {
            _links.Frame(FrameType.Data, 1)[0] = 1;
            _links.SendTo(2);
            _links.Frame(FrameType.Data, 1)[0] = 2;
            _links.SendToOthers();
            _links.Frame(FrameType.Data, 1)[0] = 3;
            _links.SendTo([0]);
        });
        Assert.Equal([(0, 2), (0, 3), (2, 1), (2, 2)], _received.Select(static frame => (frame.Rank, (int)frame.Body)).Order());
        Assert.All(_received, static frame => Assert.Equal((3, 7U), (frame.Header.Slot, frame.Header.View)));
    }

    [Fact]
    public void Ranks_and_links_name_each_other()
    {
        Connect();
        Assert.Equal([0, -1, 2], Enumerable.Range(0, 3).Select(rank => _links.RankOf(_links.PeerOf(rank))));
        Assert.Equal(-1, _links.RankOf(99));
        Assert.Equal(long.MaxValue, _links.RoomTo(Self));
    }

    [Fact]
    public void A_member_is_here_when_it_has_said_so_and_is_met_once()
    {
        Connect(isIn: false);
        Assert.Equal([false, true, false], Enumerable.Range(0, 3).Select(_links.IsHere));
        Assert.True(_links.TryMeet(2));
        Assert.False(_links.TryMeet(2));
        Assert.True(_links.IsHere(2));
    }

    [Fact]
    public void A_lost_link_is_another_one_and_noted_until_the_next_view()
    {
        Connect();
        int before = _links.PeerOf(2);
        InTurn(() =>
        {
            _nodes[Self].Node.Links.Close(before);
            _links.Relink(2);
            _links.MarkLost(2);
        });
        Assert.NotEqual(before, _links.PeerOf(2));
        Assert.Equal((-1, 2), (_links.RankOf(before), _links.RankOf(_links.PeerOf(2))));
        Assert.Equal([false, false, true], Enumerable.Range(0, 3).Select(_links.HasLost));
        Connect();
        Assert.False(_links.HasLost(2));
    }

    private sealed class Receiver(int rank, List<(int Rank, FrameHeader Header, byte Body)> received) : IFrameHandler
    {
        public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body) => received.Add((rank, header, body[0]));
    }
}
