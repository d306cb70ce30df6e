using GroupCore.Groups;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>What strangers say and send of a group costs its members little memory, and no member its place.</summary>
public sealed class StrangerFrameTests
{
    private const int Stranger = 5_000;

    private static GroupCluster Settled(ulong seed, int members, Action<GroupBuilder>? more = null)
    {
        var cluster = new GroupCluster(seed, members, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static TestMember Joining(GroupCluster cluster)
    {
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Id: null }], TimeSpan.FromMilliseconds(10)));
        return comer;
    }

    private static void Bind(GroupHost host, int peer, ushort slot, GroupId group, ulong view)
    {
        byte[] frame = new byte[FrameHeader.Size + BindTable.Body];
        FrameHeader.Write(frame, FrameType.Bind, slot, (uint)view, BindTable.Body);
        BindTable.Write(frame.AsSpan(FrameHeader.Size), group, view);
        Assert.True(FrameHeader.TryRead(frame, out var header));
        host.OnFrame(peer, header, frame.AsSpan(FrameHeader.Size));
    }

    private static void Send(GroupHost host, int peer, ushort slot, ulong view)
    {
        byte[] frame = new byte[FrameHeader.Size + 1_000];
        FrameHeader.Write(frame, FrameType.Data, slot, (uint)view, 1_000);
        Assert.True(FrameHeader.TryRead(frame, out var header));
        host.OnFrame(peer, header, frame.AsSpan(FrameHeader.Size));
    }

    [Theory]
    [InlineData(1UL << 40, false)]
    [InlineData(60, true)]
    public void What_strangers_sent_to_a_process_that_joins_is_theirs_once_it_has_a_view(ulong view, bool mayBecomeMember)
    {
        using var cluster = Settled(1, 1);
        var comer = Joining(cluster);
        var id = cluster.Oracle.Find("g")!.Id;
        comer.SimNode.Post(() =>
        {
            Bind(comer.Host, Stranger, 7, id, view);
            Send(comer.Host, Stranger, 7, view);
        });
        Assert.True(cluster.Settle());
        var (members, strangers) = comer.Group!.Protocol.HeldEarly;
        Assert.Equal((0, mayBecomeMember), (members, strangers > 0));
    }

    [Fact]
    public void What_strangers_say_of_groups_that_may_be_joined_is_kept_for_no_more_than_there_are()
    {
        using var cluster = Settled(2, 1);
        var comer = Joining(cluster);
        comer.SimNode.Post(() =>
        {
            for (int peer = Stranger; peer < Stranger + 4; peer++)
                for (ushort slot = 1; slot <= GroupLimits.GroupsPerProcess; slot++) Bind(comer.Host, peer, slot, new(10_000u + slot, 1), 3);
        });
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Bindings.Count > 0, TimeSpan.FromMilliseconds(1)));
        Assert.InRange(comer.Host.Bindings.Count, 1, 4 * 66);
        Assert.True(cluster.Settle());
        Assert.InRange(comer.Host.Bindings.Count, 1, 1);
    }

    /// <summary>The strangers are many and each holds little. They leave the newcomer no room, and it would be the one that holds most.</summary>
    [Fact]
    public void What_a_newcomer_sends_before_its_view_is_known_here_is_not_lost_for_what_strangers_send()
    {
        int delivered = 0;
        using var cluster = Settled(3, 3, g => g.Handle<byte[]>("bulk", (from, m) => delivered++));
        var late = cluster.Members.First(static m => m.Group!.CurrentView.Coordinator != m.Group.Rank);
        var protocol = late.Group!.Protocol;
        byte[] frame = new byte[FrameHeader.Size + 1_000];
        FrameHeader.Write(frame, FrameType.Data, protocol.Slot, (uint)protocol.View!.Id + 1, 1_000);
        Assert.True(FrameHeader.TryRead(frame, out var header));
        late.SimNode.Post(() =>
        {
            for (int i = 0; i < 15; i++)
                for (int peer = Stranger; peer < Stranger + 4_200; peer++) protocol.OnFrame(peer, header, frame.AsSpan(FrameHeader.Size), protocol.View.Id + 1);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => protocol.Flush.Acked, TimeSpan.FromSeconds(5)));
        late.Membership.Deaf = true;
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(5)));
        for (int i = 0; i < 5; i++) _ = cluster.Simulation.Spawn(() => comer.Group!.SendAsync("bulk", new byte[60_000]).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(3 * 5, delivered);
        late.Membership.Deaf = false;
        cluster.Simulation.RunUntil(() => protocol.IsOver || delivered == 4 * 5, TimeSpan.FromSeconds(10));
        Assert.Null(protocol.Over);
        Assert.True(cluster.Settle());
        Assert.Equal(4 * 5, delivered);
    }

    /// <summary>Bindings to groups that are over are forgotten at the end of the turn, and take up room until then.</summary>
    [Fact]
    public void What_a_peer_says_of_a_group_is_taken_also_in_the_turn_in_which_many_others_end()
    {
        const int groups = 130, over = 100;
        using var cluster = Settled(4, 1);
        var host = cluster[0].Host;
        for (int i = 0; i < groups; i++)
        {
            string name = $"session {i}";
            _ = cluster.Simulation.Spawn(() => host.JoinAsync(name, static _ => { }).AsTask());
        }
        Assert.True(cluster.Simulation.RunUntil(() => host.Groups.Count == groups + 1 && host.Groups.All(static g => g.Phase == GroupPhase.Member), TimeSpan.FromSeconds(10)));
        var sessions = host.Groups.Where(static g => g.Name != "g").Select(static g => g.Id!.Value).ToList();
        cluster[0].SimNode.Post(() =>
        {
            for (int i = 0; i < groups - 1; i++) Bind(host, Stranger, (ushort)(i + 1), sessions[i], 3);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        Assert.Equal(groups - 1, host.Bindings.Count);
        cluster[0].SimNode.Post(() =>
        {
            for (int i = 0; i < over; i++) host.OnGroupOver(sessions[i], "the test says so");
            Bind(host, Stranger, groups, sessions[groups - 1], 3);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        Assert.NotNull(host.Bindings.Find(Stranger, groups));
        Assert.Equal(groups - over, host.Bindings.Count);
    }
}
