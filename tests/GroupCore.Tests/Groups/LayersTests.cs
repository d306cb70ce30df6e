using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>Several layers above one group (views-and-flush.md#each-layer-has-its-name-and-its-frame-types): none hears anything of the others.</summary>
public sealed class LayersTests
{
    private static readonly LayerFrames s_other = new("other", ToyLayers.First.First + 1, 8);

    private static GroupCluster Settled(ulong seed, int members, Action<GroupBuilder>? more = null, Action<GroupCluster>? beforeMembers = null)
    {
        var cluster = new GroupCluster(seed, members, more: more, beforeMembers: beforeMembers);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static SetLayer Attached(GroupCluster cluster, TestMember member, LayerFrames frames)
    {
        SetLayer? layer = null;
        _ = cluster.Simulation.Spawn(async () => layer = await member.Group!.AttachLayerAsync(frames, port => new SetLayer(port, frames)));
        Assert.True(cluster.Simulation.RunUntil(() => layer is not null, TimeSpan.FromSeconds(5)));
        return layer!;
    }

    private static TestLayer AttachedPlain(GroupCluster cluster, TestMember member, LayerFrames frames)
    {
        TestLayer? layer = null;
        _ = cluster.Simulation.Spawn(async () => layer = await member.Group!.AttachLayerAsync(frames, static port => new TestLayer(port, static () => [])));
        Assert.True(cluster.Simulation.RunUntil(() => layer is not null, TimeSpan.FromSeconds(5)));
        return layer!;
    }

    private static TestMember AtRank(GroupCluster cluster, int rank) => cluster.Usable.Single(member => member.Group!.Rank == rank);

    private static void ChangeView(GroupCluster cluster)
    {
        ulong before = cluster.Usable.Max(static member => member.Group!.CurrentView.Id);
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Usable.TrueForAll(member => member.Group!.CurrentView.Id > before), TimeSpan.FromSeconds(10)));
        Assert.True(cluster.Settle());
    }

    private static string Text(SetLayer layer) => string.Join(' ', layer.Numbers);

    /// <summary>One layer is at all four members and one at three. A member fails, and then a fifth comes and gets the state of each layer.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Two_layers_have_their_own_frames_contributions_and_state(ulong seed)
    {
        using var cluster = Settled(seed, 4);
        var members = Enumerable.Range(0, 4).Select(rank => AtRank(cluster, rank)).ToArray();
        var first = members.ToDictionary(static member => member, member => Attached(cluster, member, ToyLayers.First));
        var second = members.Where((_, rank) => rank != 3).ToDictionary(static member => member, member => Attached(cluster, member, ToyLayers.Second));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        long before = members[3].SimNode.Node.Counters.Refused(RefusalReason.Unexpected);
        foreach (var (layers, least) in new[] { (first, 100UL), (second, 200UL) })
            foreach (var (member, layer) in layers) member.SimNode.Post(() => layer.Add(least + (ulong)layer.Port.Rank));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        Assert.All(first.Values, static layer => Assert.Equal("100 101 102 103", Text(layer)));
        Assert.All(second.Values, static layer => Assert.Equal("200 201 202", Text(layer)));
        // Each of the three members with the second layer has told the fourth, which does not have it.
        Assert.Equal(before + 3, members[3].SimNode.Node.Counters.Refused(RefusalReason.Unexpected));

        members[1].Crash();
        cluster.Oracle.Fail(members[1].Membership);
        Assert.True(cluster.Settle());
        ulong view = members[0].Group!.CurrentView.Id;
        foreach (int rank in new[] { 0, 2, 3 })
        {
            Assert.Equal([members[0].Id, members[2].Id, members[3].Id], first[members[rank]].Agreed[view].From);
            Assert.Equal("100 101 102 103", first[members[rank]].Agreed[view].Numbers);
        }
        foreach (int rank in new[] { 0, 2 })
        {
            Assert.Equal([members[0].Id, members[2].Id], second[members[rank]].Agreed[view].From);
            Assert.Equal("200 201 202", second[members[rank]].Agreed[view].Numbers);
        }

        var joiner = cluster.Add();
        Assert.True(cluster.Settle());
        (first[joiner], second[joiner]) = (Attached(cluster, joiner, ToyLayers.First), Attached(cluster, joiner, ToyLayers.Second));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        Assert.Equal(("100 101 102 103", "200 201 202"), (Text(first[joiner]), Text(second[joiner])));
        ChangeView(cluster);
        view = joiner.Group!.CurrentView.Id;
        Assert.Equal(4, first[joiner].Agreed[view].From.Count);
        Assert.Equal(second[members[0]].Agreed[view].From, second[joiner].Agreed[view].From);
        Assert.Equal(3, second[joiner].Agreed[view].From.Count);
        Assert.All(first.Values.Concat(second.Values), static layer => Assert.Empty(layer.Wrong));
        Assert.Null(cluster.Verdict());
    }

    /// <summary>The type belongs to a layer that is attached nowhere, or to no layer.</summary>
    [Theory]
    [InlineData(nameof(FrameType.FirstLayer))]
    [InlineData(nameof(FrameType.LastLayer))]
    public void A_frame_of_no_layer_is_counted(string named)
    {
        var type = Enum.Parse<FrameType>(named);
        using var cluster = Settled(4, 2, beforeMembers: static made => made.HostOptions = new() { Layers = [ToyLayers.First] });
        var (from, to) = (AtRank(cluster, 0), AtRank(cluster, 1));
        long before = to.SimNode.Node.Counters.Refused(RefusalReason.Unexpected);
        from.SimNode.Post(() =>
        {
            var links = from.Group!.Protocol.Links;
            links.Frame(type, 1).Clear();
            links.SendTo(1);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(before + 1, to.SimNode.Node.Counters.Refused(RefusalReason.Unexpected));
        Assert.Null(cluster.Verdict());
    }

    /// <summary>Two members have the layer "first", and one has "other", which uses some of the same frame types.</summary>
    [Fact]
    public void Members_with_different_layers_are_told_so_and_hear_nothing_of_each_other()
    {
        var errors = new List<GroupError>();
        using var cluster = Settled(5, 2, g => g.OnError(errors.Add));
        var odd = cluster.Add(g => g.OnError(errors.Add), new() { Layers = [s_other] });
        Assert.True(cluster.Settle());
        var plain = cluster.Members.Where(member => member != odd).ToArray();
        var layers = plain.Select(member => Attached(cluster, member, ToyLayers.First)).ToArray();
        var other = Attached(cluster, odd, s_other);
        Assert.Empty(errors);
        ChangeView(cluster);
        ChangeView(cluster);
        Assert.Equal(4, errors.Count);
        Assert.All(errors, static error => Assert.Equal("layer", error.Handler));
        var told = errors.ConvertAll(static error => Assert.IsType<LayerMismatchException>(error.Exception));
        Assert.Equal(2, told.Count(mismatch => mismatch.Layer == s_other && mismatch.Other == ToyLayers.First));
        Assert.Equal(2, told.Count(mismatch => mismatch.Layer == ToyLayers.First && mismatch.Other == s_other && mismatch.Member == odd.SimNode.Address.ToString()));
        ulong view = odd.Group!.CurrentView.Id;
        Assert.All(layers, layer => Assert.Equal(plain.Select(static member => member.Id).Order(), layer.Agreed[view].From.Order()));
        Assert.Equal([odd.Id], other.Agreed[view].From);
        int taken = layers.Sum(static layer => layer.Taken);
        odd.SimNode.Post(() => other.Add(7));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        Assert.Equal(taken, layers.Sum(static layer => layer.Taken));
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public async Task A_layer_that_the_options_do_not_name_is_not_attached()
    {
        using var cluster = Settled(6, 2);
        var group = cluster[1].Group!;
        var error = await Assert.ThrowsAsync<InvalidOperationException>(async () => await group.AttachLayerAsync(s_other, static port => new SetLayer(port, s_other)));
        Assert.Contains("\"other\"", error.Message, StringComparison.Ordinal);
        Attached(cluster, cluster[1], ToyLayers.First);
        var again = group.AttachLayerAsync(ToyLayers.First, static port => new SetLayer(port, ToyLayers.First)).AsTask();
        Assert.True(cluster.Simulation.RunUntil(() => again.IsCompleted, TimeSpan.FromSeconds(5)));
        Assert.Contains("\"first\"", (await Assert.ThrowsAsync<InvalidOperationException>(() => again)).Message, StringComparison.Ordinal);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void A_member_leaves_when_all_its_layers_have_handed_over()
    {
        using var cluster = Settled(7, 2);
        var member = cluster[1];
        var (first, second) = (Attached(cluster, member, ToyLayers.First), Attached(cluster, member, ToyLayers.Second));
        first.Keeps = second.Keeps = true;
        var leaving = cluster.Simulation.Spawn(member.LeaveAsync);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        member.SimNode.Post(first.Port.Leave);
        member.SimNode.Post(first.Port.Leave);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.False(leaving.IsCompleted);
        member.SimNode.Post(second.Port.Leave);
        Assert.True(cluster.Simulation.RunUntil(() => leaving.IsCompleted, TimeSpan.FromSeconds(5)));
        Assert.IsType<NotMemberException>(first.Over);
        Assert.IsType<NotMemberException>(second.Over);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>If all links shared one sequence of turns, two links that have room alternately would always give each layer the same link.</summary>
    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void Two_layers_are_first_in_turn_at_the_room_of_each_link(int members)
    {
        const int Rooms = 6;
        using var cluster = Settled(10, members);
        var protocol = cluster[0].Group!.Protocol;
        var called = new List<(string Layer, int Rank)>();
        foreach (var frames in ToyLayers.All) AttachedPlain(cluster, cluster[0], frames).Room = rank => called.Add((frames.Name, rank));
        int[] others = [.. Enumerable.Range(0, members).Where(rank => rank != protocol.Rank)];
        (string Layer, int Rank)[] inTurn = [];
        cluster[0].SimNode.Post(() =>
        {
            called.Clear();
            for (int i = 0; i < Rooms; i++)
                foreach (int rank in others) protocol.OnRoom(protocol.Links.PeerOf(rank));
            inTurn = [.. called];
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(2 * Rooms * others.Length, inTurn.Length);
        foreach (int rank in others)
        {
            string[] layers = [.. inTurn.Where(call => call.Rank == rank).Select(static call => call.Layer)];
            // Both are called each time, and not the same one first as the time before.
            for (int i = 0; i < Rooms; i++) Assert.Equal(["first", "second"], layers[(2 * i)..((2 * i) + 2)].Order(StringComparer.Ordinal));
            for (int i = 1; i < Rooms; i++) Assert.NotEqual(layers[(2 * i) - 2], layers[2 * i]);
        }
        Assert.Null(cluster.Verdict());
    }

    /// <summary>Each layer always has more for both other members than their links carry, and takes all the room that it finds.</summary>
    [Fact]
    public void Two_layers_share_what_slow_links_carry()
    {
        const int Body = 10_000;
        using var cluster = new GroupCluster(11, 3, link: new() { BytesPerSecond = 1_000_000 });
        Assert.True(cluster.Settle());
        var layers = ToyLayers.All.ToDictionary(static frames => frames, frames => cluster.Members.ToDictionary(static member => member, member => AttachedPlain(cluster, member, frames)));
        cluster[0].SimNode.Post(() =>
        {
            foreach (var (frames, of) in layers)
            {
                var port = of[cluster[0]].Port;
                of[cluster[0]].Room = rank =>
                {
                    while (port.Room(rank) > 0)
                    {
                        port.Reserve(Body).Clear();
                        port.Send(rank, frames.First, Body);
                    }
                };
                for (int rank = 0; rank < 3; rank++)
                    if (rank != port.Rank) of[cluster[0]].Room!(rank);
            }
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        foreach (var member in cluster.Members.Skip(1))
        {
            int[] got = [.. layers.Values.Select(of => of[member].Frames.Count)];
            Assert.InRange(got.Sum(), 500, int.MaxValue);
            Assert.All(got, count => Assert.InRange(count, got.Sum() / 3, got.Sum()));
        }
        Assert.Null(cluster.Verdict());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_layer_that_throws_is_named(bool tooMuch)
    {
        using var cluster = Settled(8, 2);
        Attached(cluster, cluster[0], ToyLayers.First);
        TestLayer? layer = null;
        var group = cluster[0].Group!;
        _ = cluster.Simulation.Spawn(async () => layer = await group.AttachLayerAsync(ToyLayers.Second,
            port => new TestLayer(port, () => tooMuch ? new byte[GroupLimits.ContributionBytes + 1] : throw new InvalidDataException("on purpose"))));
        Assert.True(cluster.Simulation.RunUntil(() => layer is not null, TimeSpan.FromSeconds(5)));
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        var error = Record.Exception(() => cluster.Simulation.Run(TimeSpan.FromSeconds(5)));
        while (error is not (null or LayerFaultException)) error = error.InnerException;
        var fault = Assert.IsType<LayerFaultException>(error);
        Assert.Equal(("g", "second"), (fault.Group, fault.Layer));
        Assert.IsType(tooMuch ? typeof(InvalidOperationException) : typeof(InvalidDataException), fault.InnerException);
    }

    /// <summary>The call waited for a view, since the member was wedged. After that only the layer's own port knows of the call.</summary>
    [Fact]
    public void R_a_call_that_attaches_a_layer_which_throws_in_its_first_view_ends()
    {
        using var cluster = Settled(9, 2);
        var group = cluster[0].Group!;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.IsWedged, TimeSpan.FromSeconds(5)));
        Task? attaching = null;
        _ = cluster.Simulation.Spawn(() => attaching = group.AttachLayerAsync(ToyLayers.Second, static port => new TestLayer(port, static () => []) { Enters = static () => throw new InvalidDataException("on purpose") }).AsTask());
        Assert.NotNull(Record.Exception(() => cluster.Simulation.Run(TimeSpan.FromSeconds(5))));
        Record.Exception(() => cluster.Simulation.Run(TimeSpan.FromSeconds(5)));
        Assert.True(attaching!.IsFaulted);
    }
}
