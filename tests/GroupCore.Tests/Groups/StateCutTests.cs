using System.Buffers;
using GroupCore.Groups;
using GroupCore.Groups.State;
using GroupCore.Groups.Views;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>How often a state is written, how large it may become, and what is left of a join when it is over.</summary>
public sealed class StateCutTests
{
    private static void RequestView(GroupCluster cluster) => cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);

    private static bool IsLoading(TestMember comer) => comer.Host.Groups is [{ Phase: GroupPhase.Loading }];

    [Fact]
    public void A_state_beyond_what_its_giver_may_write_is_refused_as_it_is_written_and_the_joiner_hears_why()
    {
        const long limit = 4 << 20;
        long written = 0;
        using var cluster = new GroupCluster(101, 1, beforeMembers: static c => c.HostOptions = new() { MaxCheckpointBytes = limit }, more: g => g.CheckpointSnapshot(() => to =>
        {
            for (; written < 64 << 20; written += 100_000)
            {
                to.GetSpan(100_000)[..100_000].Clear();
                to.Advance(100_000);
            }
        }, static state => { }));
        Assert.True(cluster.Settle());
        var comer = cluster.Add(host: new());
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Contains($"{limit}", Assert.IsType<JoinRefusedException>(comer.JoinError).Message, StringComparison.Ordinal);
        Assert.InRange(written, limit - 200_000, limit);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Single(cluster[0].Group!.CurrentView.Members);
    }

    [Fact]
    public void A_snapshot_that_returns_nothing_to_write_it_with_is_no_empty_state()
    {
        var errors = new List<GroupError>();
        using var cluster = new GroupCluster(107, 1, more: g => g.CheckpointSnapshot(static () => null!, static state => { }).OnError(errors.Add));
        Assert.True(cluster.Settle());
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(10)));
        Assert.Contains("returned null", Assert.IsType<JoinRefusedException>(comer.JoinError).Message, StringComparison.Ordinal);
        Assert.IsType<InvalidOperationException>(Assert.Single(errors).Exception);
    }

    [Fact]
    public void A_snapshot_that_returns_an_async_method_is_refused_before_that_runs()
    {
        var errors = new List<GroupError>();
        bool ran = false;
        using var cluster = new GroupCluster(108, 1, more: g => g.CheckpointSnapshot(() => async to =>
        {
            ran = true;
            await Task.CompletedTask;
        }, static state => { }).OnError(errors.Add));
        Assert.True(cluster.Settle());
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(10)));
        Assert.Contains("async", Assert.IsType<JoinRefusedException>(comer.JoinError).Message, StringComparison.Ordinal);
        Assert.IsType<ArgumentException>(Assert.Single(errors).Exception);
        Assert.False(ran);
    }

    /// <summary>
    /// The save goes on writing after it has returned, like code that awaits something: before the loop hears that the state is written, or when the joiner has it.
    /// </summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void A_writer_that_is_used_when_its_save_has_returned_throws_and_the_state_is_not_taken_for_whole(bool snapshot, bool told)
    {
        GroupCluster? all = null;
        IBufferWriter<byte>? writer = null;
        var errors = new List<GroupError>();
        var thrown = new List<string>();
        byte[]? loaded = null;
        using var cluster = new GroupCluster(108, 1, beforeMembers: c => all = c,
            // This work writes a snapshot. A save has written already, and the work only makes its hash.
            tap: node => new DelayingNode(all!.Simulation, node, work => work is StateCut && !snapshot ? TimeSpan.FromSeconds(1) : TimeSpan.Zero),
            more: g => (snapshot ? g.CheckpointSnapshot(() => Save, Load) : g.Checkpoint(Save, Load)).OnError(errors.Add));
        Assert.True(cluster.Settle());
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => writer is not null, TimeSpan.FromSeconds(5)));
        if (!told && !snapshot) UseLate();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(10)));
        if (told) UseLate();
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Equal(3, thrown.Count);
        Assert.All(thrown, static message => Assert.Contains("returned", message, StringComparison.Ordinal));
        if (told)
        {
            Assert.Equal([1], loaded);
            Assert.Empty(errors);
            return;
        }
        Assert.Null(loaded);
        Assert.Contains("returned", Assert.IsType<JoinRefusedException>(comer.JoinError).Message, StringComparison.Ordinal);
        Assert.IsType<InvalidOperationException>(Assert.Single(errors).Exception);

        void Save(IBufferWriter<byte> to)
        {
            to.Write<byte>([1]);
            writer = to;
            // After the writing, and before the loop hears of it.
            if (!told && snapshot) all!.Simulation.After(TimeSpan.Zero, UseLate);
        }

        void Load(ReadOnlyMemory<byte> state) => loaded = state.ToArray();

        void UseLate()
        {
            Use(() => writer!.GetSpan(1));
            Use(() => writer!.GetMemory(1));
            Use(() => writer!.Advance(1));
        }

        void Use(Action use)
        {
            try
            {
                use();
            }
            catch (InvalidOperationException error)
            {
                thrown.Add(error.Message);
            }
        }
    }

    [Fact]
    public void A_state_is_not_saved_for_views_that_are_over()
    {
        GroupCluster? all = null;
        var gate = new TaskCompletionSource();
        int saves = 0, writes = 0;
        using var cluster = new GroupCluster(102, 1, beforeMembers: c => all = c, tap: node => new DelayingNode(all!.Simulation, node, work =>
        {
            writes += work is StateCut ? 1 : 0;
            return TimeSpan.Zero;
        }), more: g => g.HandleAsync<int>("hang", async (from, m) => await gate.Task.ConfigureAwait(false)).CheckpointSnapshot(() =>
        {
            saves++;
            return to => to.Advance(to.GetSpan(1).Length > 0 ? 1 : 0);
        }, static state => { }));
        Assert.True(cluster.Settle());
        var giver = cluster[0].Group!.Protocol;
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendAsync("hang", 0).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => IsLoading(comer), TimeSpan.FromSeconds(5)));
        for (int i = 0; i < 20; i++)
        {
            ulong view = giver.View!.Id;
            RequestView(cluster);
            Assert.True(cluster.Simulation.RunUntil(() => giver.View.Id > view && comer.Host.Groups[0].View!.Id > view, TimeSpan.FromSeconds(5)));
        }
        Assert.Equal(0, saves);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(10)), $"{comer.JoinError}");
        Assert.Equal((1, 1), (saves, writes));
    }

    [Fact]
    public void Two_states_are_written_at_a_time_at_most_whatever_views_come_meanwhile()
    {
        GroupCluster? all = null;
        int writes = 0;
        using var cluster = new GroupCluster(103, 1, beforeMembers: c => all = c, tap: node => new DelayingNode(all!.Simulation, node, work =>
        {
            writes += work is StateCut ? 1 : 0;
            return work is StateCut ? TimeSpan.FromSeconds(5) : TimeSpan.Zero;
        }));
        Assert.True(cluster.Settle());
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => IsLoading(comer), TimeSpan.FromSeconds(5)));
        for (int i = 0; i < 4; i++)
        {
            RequestView(cluster);
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        }
        Assert.Equal(2, writes);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(12)), $"{comer.JoinError}");
        Assert.Equal(3, writes);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void The_end_of_an_empty_state_is_told_once()
    {
        GroupCluster? all = null;
        int ends = 0;
        using var cluster = new GroupCluster(104, 1, beforeMembers: c => all = c, more: g => g.CheckpointSnapshot(static () => static to => { }, static state => { }), tap: node => new TappedNode(node, (_, handler, peer, header, body) =>
        {
            if (header.Type == FrameType.StateEnd && ends++ == 0)
            {
                var giver = all![0];
                giver.SimNode.Post(() =>
                {
                    for (int i = 0; i < 3; i++) giver.Group!.Protocol.OnRoom(giver.SimNode.Node.Links.Open(all[1].SimNode.Address));
                });
            }
            handler.OnFrame(peer, header, body);
        }));
        Assert.True(cluster.Settle());
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(1, ends);
    }

    [Fact]
    public void A_joiner_whose_state_makes_progress_between_silences_is_not_given_up()
    {
        using var cluster = new GroupCluster(105, 1, link: new() { BytesPerSecond = 2_500_000 }, beforeMembers: static c => c.StateBytes = 20_000_000);
        Assert.True(cluster.Settle());
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => IsLoading(comer), TimeSpan.FromSeconds(5)));
        for (int i = 0; i < 4; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromSeconds(2));
            cluster.Simulation.Network.Cut(cluster[0].SimNode, comer.SimNode);
            cluster.Simulation.Run(TimeSpan.FromSeconds(6));
            cluster.Simulation.Network.Heal();
        }
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(60)));
        Assert.Null(comer.JoinError);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void Nothing_waits_for_the_time_of_a_join_that_is_over()
    {
        using var cluster = new GroupCluster(106, 2, beforeMembers: static c => c.HostOptions = new() { JoinTimeout = TimeSpan.FromHours(24) });
        Assert.True(cluster.Settle());
        var node = Assert.IsType<Node>(cluster[1].SimNode.Node);
        _ = cluster.Simulation.Spawn(cluster[1].LeaveAsync);
        cluster.Simulation.Run(TimeSpan.FromMinutes(1));
        Assert.Empty(cluster[1].Host.Groups);
        Assert.True(node.NextTimer == long.MaxValue || node.NextTimer - node.Now < 60_000_000_000, $"the next timer is due in {(node.NextTimer - node.Now) / 1_000_000_000} s");
    }
}
