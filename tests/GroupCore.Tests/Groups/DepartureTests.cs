using System.Buffers;
using GroupCore.Groups;
using GroupCore.Groups.State;
using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>
/// A process that leaves the system is taken out of its groups without having asked to leave each one. Its members count as having left, and it begins no new membership.
/// </summary>
public sealed class DepartureTests
{
    /// <summary>No member that stays holds the state, so the group ends instead of getting a next view.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void R_the_last_holders_of_the_state_have_left_when_their_group_ends_with_their_departure(int holders)
    {
        GroupCluster? all = null;
        bool loads = false;
        int handled = 0;
        using var cluster = new GroupCluster(1, holders, beforeMembers: c => all = c, more: g => g.Handle<int>("note", (_, _) => handled++),
            tap: node => new DelayingNode(all!.Simulation, node, work => loads && work is StateCut ? TimeSpan.FromHours(1) : TimeSpan.Zero));
        (cluster.Oracle.Loss, cluster.Oracle.Gather) = (0, TimeSpan.FromMilliseconds(10));
        Assert.True(cluster.Settle());
        loads = true;
        var comer = cluster.Add();
        var leavers = cluster.Members.GetRange(0, holders);
        Assert.True(cluster.Simulation.RunUntil(() => leavers.TrueForAll(m => m.Group!.CurrentView.Members.Count == holders + 1), TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var group = cluster.Oracle.Find("g")!;
        foreach (var leaver in leavers) cluster.Oracle.Leave(group.Id, leaver.Id);
        Assert.True(cluster.Simulation.RunUntil(() => leavers.Exists(static m => m.Group!.Protocol.IsWedged), TimeSpan.FromSeconds(5)));
        // The second leaver sends a message that the first one, already wedged, has not delivered.
        bool sent = false;
        if (leavers.Find(static m => !m.Group!.Protocol.IsWedged) is { } sender)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                await sender.Group!.OrderedSendAsync("note", 1);
                sent = true;
            });
        }
        Assert.True(cluster.Simulation.RunUntil(() => leavers.TrueForAll(static m => m.Group!.Completion.IsCompleted), TimeSpan.FromSeconds(20)));
        Assert.True(group.Lost);
        Assert.All(leavers, static m => Assert.True(m.Group!.Completion.IsCompletedSuccessfully, $"{m.Group.Completion.Exception?.InnerException}"));
        Assert.Equal((holders == 2, holders == 2 ? 2 : 0), (sent, handled));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.IsType<JoinRefusedException>(comer.JoinError);
    }

    [Fact]
    public async Task R_a_flush_that_waits_at_a_process_that_departs_hears_that_it_has_left()
    {
        using var cluster = new GroupCluster(2, 2);
        cluster.Oracle.Loss = 0;
        Assert.True(cluster.Settle());
        var (stays, leaver) = (cluster[0].Group!.Protocol, cluster[1].Group!);
        cluster.Oracle.Leave(cluster.Oracle.Find("g")!.Id, cluster[1].Id);
        Assert.True(cluster.Simulation.RunUntil(() => stays.IsWedged || leaver.Protocol.IsWedged, TimeSpan.FromSeconds(5)));
        // The other member is wedged and acknowledges nothing more.
        Assert.False(leaver.Protocol.IsWedged);
        Task? flush = null;
        _ = cluster.Simulation.Spawn(() => cluster[1].SendAsync(ordered: false));
        _ = cluster.Simulation.Spawn(async () => await Record.ExceptionAsync(() => flush = leaver.FlushAsync().AsTask()));
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Completion.IsCompleted && flush!.IsCompleted, TimeSpan.FromSeconds(20)));
        Assert.Contains("it has left", (await Assert.ThrowsAsync<NotMemberException>(() => flush!)).Message, StringComparison.Ordinal);
        Assert.True(leaver.Completion.IsCompletedSuccessfully);
    }

    /// <summary>A layer that begins now would never be asked to hand over. In one case its call already waits for a view when the departure begins.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task R_nothing_is_attached_at_a_process_that_departs(bool waits)
    {
        using var cluster = new GroupCluster(3, 2);
        Assert.True(cluster.Settle());
        var member = cluster[1];
        var group = member.Group!;
        var (created, departed) = (false, false);
        KeepingLayer? keeps = null;
        _ = cluster.Simulation.Spawn(async () =>
        {
            var other = await member.Host.JoinAsync("other", static _ => { });
            await other.AttachLayerAsync(ToyLayers.First, port => keeps = new(port));
        });
        Assert.True(cluster.Simulation.RunUntil(() => keeps is not null, TimeSpan.FromSeconds(5)));
        if (waits)
        {
            cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
            Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.IsWedged, TimeSpan.FromSeconds(5)));
        }
        var before = waits ? Attach() : null;
        cluster.Simulation.Run(TimeSpan.FromMicroseconds(1));
        member.SimNode.Post(() => member.Host.HandOver(() => departed = true));
        var attaching = before ?? Attach();
        Assert.True(cluster.Simulation.RunUntil(() => attaching.IsCompleted, TimeSpan.FromSeconds(5)));
        Assert.Contains("leav", (await Assert.ThrowsAsync<NotMemberException>(() => attaching)).Message, StringComparison.Ordinal);
        Assert.Equal((false, false), (created, departed));
        // The process stays a member while a layer of another group hands over.
        _ = cluster.Simulation.Spawn(() => member.SendAsync(ordered: true));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(cluster.Settle());
        member.SimNode.Post(keeps!.Port.Leave);
        Assert.True(cluster.Simulation.RunUntil(() => departed, TimeSpan.FromSeconds(1)));
        Assert.Null(cluster.Verdict());

        Task Attach() => group.AttachLayerAsync(ToyLayers.First, port =>
        {
            created = true;
            return new TestLayer(port, static () => []);
        }).AsTask();
    }

    /// <summary>Neither a free name can be joined, nor a group that the process is leaving, where the join waits for the end of the old membership.</summary>
    [Fact]
    public async Task R_no_group_is_joined_at_a_process_that_departs()
    {
        using var cluster = new GroupCluster(4, 2);
        Assert.True(cluster.Settle());
        var member = cluster[1];
        var leaving = cluster.Simulation.Spawn(member.LeaveAsync);
        cluster.Simulation.Run(TimeSpan.FromMicroseconds(1));
        var again = member.Host.JoinAsync("g", static _ => { }).AsTask();
        cluster.Simulation.Run(TimeSpan.FromMicroseconds(1));
        Assert.False(again.IsCompleted);
        member.SimNode.Post(() => member.Host.HandOver(static () => { }));
        var fresh = member.Host.JoinAsync("other", static _ => { }).AsTask();
        Assert.True(cluster.Simulation.RunUntil(() => again.IsCompleted && fresh.IsCompleted, TimeSpan.FromSeconds(5)));
        foreach (var join in new[] { again, fresh })
            Assert.Contains("leav", (await Assert.ThrowsAsync<NotMemberException>(() => join)).Message, StringComparison.Ordinal);
        Assert.Null(cluster.Oracle.Find("other"));
        Assert.True(cluster.Simulation.RunUntil(() => leaving.IsCompleted, TimeSpan.FromSeconds(5)));
        Assert.Null(cluster.Verdict());
    }

    /// <summary>A layer that has something to hand over until the test lets it leave.</summary>
    private sealed class KeepingLayer(IGroupPort port) : IGroupLayer
    {
        public IGroupPort Port { get; } = port;

        public void OnWedged(Proposal proposal)
        {
        }

        public void Contribute(IBufferWriter<byte> into)
        {
        }

        public void OnInstalled(View view, IReadOnlyList<LayerContribution> contributions)
        {
        }

        public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body)
        {
        }

        public void OnRoom(int rank)
        {
        }

        public void OnBlocked(bool blocked)
        {
        }

        public bool OnLeaving() => false;

        public void EndOfTurn()
        {
        }

        public void OnOver(Exception reason)
        {
        }
    }
}
