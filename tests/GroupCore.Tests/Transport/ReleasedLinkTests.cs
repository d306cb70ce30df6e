using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Transport;

/// <summary>Links that were held and are no longer needed: what this node still learns of them, over TCP and in simulation.</summary>
public sealed class ReleasedLinkTests
{
    private const string There = "127.0.0.1:5", Elsewhere = "127.0.0.1:6";
    private const ulong Meant = 77;

    /// <summary>Otherwise a node that did not answer once, just as its links were released, would count as gone for good.</summary>
    [Fact]
    public void A_node_that_did_not_answer_can_be_probed_again_when_nobody_holds_its_link_any_more()
    {
        var node = new ScriptedNode();
        int peer = Held(node, out _);
        node.Mesh.Probe(peer);
        node.Mesh.Release(peer);
        node.Pass(2 * ScriptedNode.Second);
        Assert.Equal((peer, LinkFault.Unreachable), node.News[^1]);
        node.Mesh.Probe(peer);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant);
        Assert.Equal((peer, null), node.News[^1]);
    }

    /// <summary>The address of a guest is only its own claim, and a node that went after its link was released is dialled when it is needed.</summary>
    [Fact]
    public void A_probe_dials_neither_a_guest_nor_a_released_node_that_went()
    {
        var node = new ScriptedNode();
        node.Come(Meant + 1, Elsewhere, 5);
        node.Mesh.Probe(node.News[^1].Peer);
        Assert.Empty(node.Port.Dialled);
        int peer = Held(node, out var link);
        node.Mesh.Release(peer);
        node.Pass(ScriptedNode.Second);
        link.End();
        node.Turn();
        node.Dials(There, DialResult.Refused);
        int dialled = node.Port.Dialled.Count;
        node.Mesh.Probe(peer);
        Assert.Equal(dialled, node.Port.Dialled.Count);
    }

    /// <summary>Otherwise the first frame after the link is needed again would find that out, and be lost.</summary>
    [Fact]
    public void A_link_that_nobody_holds_and_the_other_end_has_closed_is_over_at_once_at_the_end_that_dialled()
    {
        var node = new ScriptedNode();
        int peer = Held(node, out var link);
        node.Mesh.Release(peer);
        node.Pass(ScriptedNode.Second);
        link.End();
        node.Turn();
        node.Answers(node.Dials(There), HelloStatus.Forgotten, Meant);
        Assert.Equal((peer, LinkFault.Rejected), node.News[^1]);
        Assert.NotEqual(peer, node.Mesh.Open(new(There), Meant));
    }

    /// <summary>Otherwise a node that was needed once would be dialled without end.</summary>
    [Fact]
    public void A_node_that_accepts_and_closes_at_once_is_dialled_with_pauses_when_nobody_holds_its_link()
    {
        var node = new ScriptedNode();
        int peer = Held(node, out var link);
        node.Mesh.Release(peer);
        for (int i = 0; i < 1000; i++)
        {
            link.End();
            node.Pass(ScriptedNode.Second / 1000);
            if (node.Port.Dialled[^1].IsClosed) continue;
            link = node.Dials(There);
            node.Answers(link, HelloStatus.Accepted, Meant, 9);
        }
        Assert.InRange(node.Port.Dialled.Count, 4, 6);
        node.Pass(2 * ScriptedNode.Second);
        if (link.IsClosed)
        {
            link = node.Dials(There);
            node.Answers(link, HelloStatus.Accepted, Meant, 9);
        }
        int dialled = node.Port.Dialled.Count;
        node.Pass(2 * ScriptedNode.Second);
        link.End();
        node.Turn();
        Assert.Equal(dialled + 1, node.Port.Dialled.Count);
    }

    [Fact]
    public void A_simulated_node_that_accepts_and_closes_at_once_is_dialled_with_pauses_as_well()
    {
        using var simulation = new Simulation(1);
        var (one, other) = (simulation.AddNode(), simulation.AddNode());
        var heard = new Heard();
        one.Node.Observe(heard);
        one.Post(() =>
        {
            int peer = one.Links.Open(other.Address, other.Id);
            one.Links.Hold(peer);
            one.Links.Release(peer);
        });
        for (int i = 0; i < 1000; i++)
        {
            simulation.Run(TimeSpan.FromMilliseconds(1));
            if (one.Links.Ends is [{ Connected: true } end]) end.Break();
        }
        Assert.InRange(heard.News.Count(static news => news is null), 3, 6);
        simulation.Run(TimeSpan.FromSeconds(4));
        Assert.True(one.Links.Ends[0].Connected);
    }

    [Fact]
    public void A_node_that_sent_what_nobody_can_read_is_not_dialled_at_once_when_nobody_holds_its_link()
    {
        var node = new ScriptedNode();
        int peer = Held(node, out var link);
        node.Mesh.Release(peer);
        link.Say(new byte[64]);
        node.Turn();
        Assert.True(link.IsClosed);
        Assert.Single(node.Port.Dialled);
    }

    [Fact]
    public void Simulated_links_are_asked_about_and_end_alike_when_nobody_holds_them()
    {
        using var simulation = new Simulation(1);
        var (one, other) = (simulation.AddNode(), simulation.AddNode());
        var heard = new Heard();
        one.Node.Observe(heard);
        int peer = 0;
        void Do(Action action, double seconds)
        {
            one.Post(action);
            simulation.Run(TimeSpan.FromSeconds(seconds));
        }
        Do(
            () =>
            {
                peer = one.Links.Open(other.Address, other.Id);
                one.Links.Hold(peer);
            },
            1);
        other.Pause(TimeSpan.FromSeconds(2));
        Do(
            () =>
            {
                one.Links.Probe(peer);
                one.Links.Release(peer);
            },
            3);
        Assert.Equal([null, LinkFault.Unreachable], heard.News);
        Do(() => one.Links.Probe(peer), 1);
        Assert.Equal([null, LinkFault.Unreachable, null], heard.News);
        other.Post(() => other.Links.GiveUp(0));
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal([null, LinkFault.Unreachable, null, LinkFault.Reset, LinkFault.Rejected], heard.News);
    }

    /// <summary>The node is dialled where it is asked for, beside a guest that has come in its name, and is released before the dial is answered.</summary>
    [Fact]
    public void A_guest_that_turns_out_to_be_a_released_node_stays_a_guest()
    {
        var node = new ScriptedNode();
        var guest = node.Come(Meant, There, 5);
        int beside = node.Mesh.Open(new(Elsewhere), Meant);
        node.Mesh.Hold(beside);
        node.Mesh.Release(beside);
        node.Dials(Elsewhere, DialResult.Refused);
        Assert.Equal(1, node.Mesh.Live);
        guest.End();
        node.Turn();
        node.Pass(59 * ScriptedNode.Second);
        Assert.Single(node.Port.Dialled);
        node.Pass(2 * ScriptedNode.Second);
        Assert.Equal(0, node.Mesh.Live);
    }

    /// <summary>The node was needed just now, and so was what is queued for it: both keep the minute that a released link has.</summary>
    [Fact]
    public void What_is_queued_for_a_node_that_was_just_released_is_kept_for_its_minute_when_the_node_turns_out_to_be_a_guest()
    {
        var node = new ScriptedNode();
        node.Come(Meant, There, 5);
        int guest = node.News[^1].Peer, beside = node.Mesh.Open(new(Elsewhere), Meant);
        node.Mesh.Hold(beside);
        for (uint i = 0; i < 2; i++) node.Send(beside, i, 50_000);
        node.Mesh.Release(beside);
        node.Dials(Elsewhere, DialResult.Refused);
        Assert.Equal(1, node.Mesh.Live);
        node.Send(beside, 2, 50_000);
        node.Turn();
        Assert.Equal(0, node.Count(LinkFault.Overflow));
        Assert.Equal((3 * (50_000 + FrameHeader.Size), node.Mesh.Backlog(guest)), (node.Mesh.Backlog(guest), node.Mesh.Quota.Bytes));
        // It takes nothing.
        node.Pass(61 * ScriptedNode.Second);
        Assert.Contains((guest, LinkFault.Overflow), node.News);
        Assert.Equal(0, node.Mesh.Quota.Bytes);
    }

    /// <summary>
    /// Nobody needs the node, and perhaps it never comes back, whether its host has said so or its connection stands. If this node has no room left, what is queued for it is
    /// dropped. Otherwise the death of many nodes while much is under way would stop all others for a minute.
    /// </summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void What_is_queued_for_one_that_is_silent_and_that_nobody_needs_takes_no_room_from_others(bool waitsBefore, bool ends)
    {
        var node = new ScriptedNode(mostQueuedBytes: 100_000);
        int gone = Held(node, out var link), other = node.Mesh.Open(new(Elsewhere), Meant + 1);
        node.Answers(node.Dials(Elsewhere), HelloStatus.Accepted, Meant + 1, 8);
        node.PassSlowly(ScriptedNode.Second);
        link.Say(ScriptedNode.Frames(0, 1));
        node.Turn();
        node.Send(gone, 0, 90_000);
        if (waitsBefore) Fill();
        node.Mesh.Release(gone);
        if (ends)
        {
            link.End();
            node.Turn();
            node.Dials(There, DialResult.Refused);
        }
        if (!waitsBefore) Fill();
        // Not at once: a connection may break and be made again, and a slow one takes something.
        node.PassSlowly(5 * ScriptedNode.Second / 2);
        Assert.Equal(0, node.Count(LinkFault.Rejected));
        node.PassSlowly(ScriptedNode.Second);
        Assert.Equal((gone, LinkFault.Rejected), node.News[^1]);
        Assert.Equal(1, node.Mesh.Live);
        Assert.Equal([other], node.Rooms);
        Assert.InRange(node.Mesh.Room(other), 1, long.MaxValue);

        void Fill()
        {
            node.Send(other, 0, 20_000);
            Assert.True(node.Mesh.IsFull);
            Assert.InRange(node.Mesh.Room(other), long.MinValue, 0);
        }
    }

    /// <summary>A user that asks for a link without holding it asks again for each frame, even after the link has ended.</summary>
    [Fact]
    public void What_is_queued_for_one_that_is_asked_for_and_that_nobody_holds_takes_no_room_either()
    {
        var node = new ScriptedNode(mostQueuedBytes: 100_000);
        int gone = node.Mesh.Open(new(There), Meant);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        int other = node.Mesh.Open(new(Elsewhere), Meant + 1);
        node.Answers(node.Dials(Elsewhere), HelloStatus.Accepted, Meant + 1, 8);
        node.Mesh.Hold(other);
        node.Send(other, 0, 20_000);
        node.Send(gone, 0, 90_000);
        node.PassSlowly(4 * ScriptedNode.Second);
        Assert.Equal((gone, LinkFault.Rejected), node.News[^1]);
        Assert.Equal(1, node.Mesh.Live);
    }

    /// <summary>No link waits for room, because callers are refused before.</summary>
    [Fact]
    public void A_full_node_looks_for_room_though_no_link_waits_for_it()
    {
        var node = new ScriptedNode(mostQueuedBytes: 100_000);
        int gone = Held(node, out _);
        node.Send(gone, 0, 110_000);
        node.Mesh.Release(gone);
        node.PassSlowly(4 * ScriptedNode.Second);
        Assert.Equal((gone, LinkFault.Rejected), node.News[^1]);
        Assert.False(node.Mesh.IsFull);
    }

    /// <summary>What the other end has said meanwhile was not read yet.</summary>
    [Fact]
    public void A_process_that_stood_still_takes_nobody_for_silent()
    {
        var node = new ScriptedNode(mostQueuedBytes: 100_000);
        int peer = Held(node, out _);
        node.Mesh.Release(peer);
        node.Send(peer, 0, 110_000);
        node.PassSlowly(ScriptedNode.Second);
        node.Pass(5 * ScriptedNode.Second);
        Assert.Equal(0, node.Count(LinkFault.Rejected));
        node.PassSlowly(ScriptedNode.Second);
        Assert.Equal(1, node.Count(LinkFault.Rejected));
    }

    /// <summary>It may have been silent because it had nothing to say.</summary>
    [Fact]
    public void A_silent_node_has_time_to_take_what_was_queued_for_it_a_moment_ago()
    {
        var node = new ScriptedNode(mostQueuedBytes: 100_000);
        int quiet = Held(node, out _), other = node.Mesh.Open(new(Elsewhere), Meant + 1);
        node.Mesh.Hold(other);
        node.Answers(node.Dials(Elsewhere), HelloStatus.Accepted, Meant + 1, 8);
        node.Mesh.Release(quiet);
        node.PassSlowly(10 * ScriptedNode.Second);
        node.Send(other, 0, 110_000);
        node.Send(quiet, 0, 100);
        node.PassSlowly(5 * ScriptedNode.Second / 2);
        Assert.Equal(0, node.Count(LinkFault.Rejected));
        node.PassSlowly(ScriptedNode.Second);
        Assert.Equal((quiet, LinkFault.Rejected), node.News[^1]);
    }

    /// <summary>Waiting links begin again when an eighth is free, not as soon as the node is no longer full.</summary>
    [Fact]
    public void Released_nodes_give_up_room_until_links_that_wait_go_on()
    {
        var node = new ScriptedNode(mostQueuedBytes: 100_000);
        int first = Held(node, out _), second = node.Mesh.Open(new("127.0.0.1:7"), Meant + 2);
        node.Mesh.Hold(second);
        node.Answers(node.Dials("127.0.0.1:7"), HelloStatus.Accepted, Meant + 2, 7);
        int other = node.Mesh.Open(new(Elsewhere), Meant + 1);
        node.Answers(node.Dials(Elsewhere), HelloStatus.Accepted, Meant + 1, 8);
        node.Send(first, 0, 8_000);
        node.Send(second, 0, 92_000);
        Assert.InRange(node.Mesh.Room(other), long.MinValue, 0);
        node.Mesh.Release(first);
        node.Mesh.Release(second);
        node.PassSlowly(4 * ScriptedNode.Second);
        Assert.Equal([other], node.Rooms);
    }

    /// <summary>It may come back for what is queued for it.</summary>
    [Fact]
    public void A_silent_node_that_nobody_needs_is_remembered_while_there_is_room()
    {
        var node = new ScriptedNode(mostQueuedBytes: 200_000);
        int gone = Held(node, out var link);
        node.Pass(ScriptedNode.Second);
        node.Send(gone, 0, 150_000);
        node.Mesh.Release(gone);
        link.End();
        node.Turn();
        node.Dials(There, DialResult.Refused);
        node.Pass(58 * ScriptedNode.Second);
        Assert.Equal(0, node.Count(LinkFault.Rejected));
        Assert.Equal(150_000 + FrameHeader.Size, node.Mesh.Backlog(gone));
    }

    [Theory]
    [InlineData(100_000, true, true)]
    [InlineData(100_000, false, true)]
    [InlineData(200_000, true, false)]
    public void A_simulated_node_that_is_silent_and_that_nobody_needs_takes_no_room_from_others_as_well(int most, bool resets, bool forgotten)
    {
        using var simulation = new Simulation(new SimulationOptions { MostQueuedBytes = most });
        var (one, gone, other) = (simulation.AddNode(), simulation.AddNode(), simulation.AddNode());
        long room = 0;
        one.Post(() =>
        {
            int peer = one.Links.Open(gone.Address, gone.Id);
            one.Links.Hold(peer);
            one.Links.Open(other.Address, other.Id);
        });
        simulation.Run(TimeSpan.FromSeconds(1));
        gone.Crash(resets);
        one.Post(() =>
        {
            for (int i = 0; i < 3; i++)
            {
                FrameHeader.Write(one.Links.Reserve(FrameHeader.Size + 50_000), FrameType.Data, 0, 1, 50_000);
                one.Links.Send(0, FrameHeader.Size + 50_000);
            }
            one.Links.Release(0);
            room = one.Links.Room(1);
        });
        simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(forgotten, room <= 0);
        simulation.Run(TimeSpan.FromSeconds(4));
        one.Post(() => room = one.Links.Room(1));
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(forgotten, one.Links.Ends[0].IsOver);
        Assert.InRange(room, 1, long.MaxValue);
    }

    /// <summary>Two nodes registered with one address, as anybody may, and are sent something in turn.</summary>
    [Fact]
    public void Two_guests_that_are_asked_for_at_one_address_elsewhere_have_a_link_each()
    {
        var node = new ScriptedNode();
        node.Come(Meant, There, 5);
        node.Come(Meant + 1, There, 5);
        int[] opened = [.. Enumerable.Range(0, 10).Select(i => node.Mesh.Open(new(Elsewhere), Meant + (ulong)(i % 2)))];
        Assert.Equal(4, node.Mesh.Live);
        for (int i = 2; i < 10; i++) Assert.Equal(opened[i - 2], opened[i]);
        Assert.NotEqual(opened[0], opened[1]);
    }

    private static int Held(ScriptedNode node, out ScriptedPort.OtherEnd link)
    {
        int peer = node.Mesh.Open(new(There), Meant);
        node.Mesh.Hold(peer);
        link = node.Dials(There);
        node.Answers(link, HelloStatus.Accepted, Meant, 9);
        return peer;
    }

    private sealed class Heard : ILinkObserver
    {
        public List<LinkFault?> News { get; } = [];

        public void OnLinkUp(int peer) => News.Add(null);

        public void OnLinkFault(int peer, LinkFault fault) => News.Add(fault);
    }
}
