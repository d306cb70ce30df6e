using GroupCore.Membership;
using GroupCore.Wire;
using Ida.Testing;
using Oracle.Frames;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>A process asks for all its groups in one question, however many of them want to know what they missed.</summary>
public sealed class SyncPaceTests
{
    private const int Groups = 50;

    [Fact]
    public void Groups_that_ask_in_the_same_moment_are_asked_for_in_one_question_and_none_is_forgotten()
    {
        using var cluster = new OracleCluster(1, 5);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 5, 10), cluster.Describe());
        cluster.Run(3);
        // A process that is no replica, so its questions go over links.
        var one = cluster.Alive.Last(process => process.Oracle.Replica is null);
        for (int i = 0; i < Groups; i++)
        {
            string name = $"own{i}";
            one.Node.Post(() => one.Oracle.Join(name, new(), ""));
        }
        Assert.True(cluster.RunUntil(() => one.Groups.Groups.Count(group => group.View is not null) == Groups + 1, 10), cluster.Describe());
        int asked = 0;
        one.Node.WatchFrames((node, frame) =>
        {
            asked += frame.Type == FrameType.Sync ? 1 : 0;
            return CrashMoment.None;
        });
        cluster.Run(0.2);
        asked = 0;
        one.Node.Post(() => AskForAll(one));
        // If a question has just gone out, the next follows within 100 ms.
        cluster.Run(0.12);
        Assert.InRange(asked, 1, 2);

        // Each group asks by its own timer, for a whole second.
        asked = 0;
        for (int i = 0; i < 500; i++)
        {
            one.Node.Post(() => AskForAll(one));
            cluster.Run(0.002);
        }
        Assert.InRange(asked, 5, 13);

        // The groups that ask last are asked for as well.
        one.Node.Post(() => AskForAll(one));
        asked = 0;
        cluster.Run(0.12);
        Assert.InRange(asked, 1, 2);
        cluster.AssertNoViolations();
    }

    /// <summary>These are more views than one answer holds. If it took longer, a member that waits in its flushes would suspect their leaders.</summary>
    [Fact]
    public void A_process_that_lacks_views_of_thousands_of_groups_is_told_of_them_all_in_half_a_second()
    {
        const int groups = 2_000;
        using var cluster = Grown(groups, new(), out var one);
        var told = new SortedSet<GroupId>();
        foreach (var process in cluster.Alive)
        {
            process.Node.WatchFrames((node, sent) =>
            {
                if (sent.Type == FrameType.Install && FrameCodec.TryRead(sent.Type, sent.Body, out _, out var frame)) told.Add(((InstallFrame)frame).View.Group);
                return CrashMoment.None;
            });
        }
        Lack(one);
        Assert.True(cluster.RunUntil(() => told.Count == groups, 0.5), $"{told.Count} of {groups}");
        cluster.AssertNoViolations();
    }

    /// <summary>Before, the rest came only with the question of the next second, while flushes waited for it.</summary>
    [Fact]
    public void Another_voter_is_asked_at_once_when_one_that_was_asked_for_the_rest_dies()
    {
        const int groups = 4_000;
        using var cluster = Grown(groups, new(), out var one);
        int answers = 0, lacking = -1;
        bool dead = false;
        foreach (var process in cluster.Alive.Where(process => process.Oracle.Replica is not null))
        {
            process.Node.WatchFrames((node, sent) =>
            {
                // The second voter that is asked dies before anybody hears from it that there is more.
                if (sent.Type != FrameType.Sync || !FrameCodec.TryRead(sent.Type, sent.Body, out _, out var frame) || frame is not SyncAnswer { More: true } || ++answers != 2) return CrashMoment.None;
                dead = true;
                return CrashMoment.Before;
            });
        }
        one.Node.WatchFrames((node, sent) =>
        {
            if (sent.Type == FrameType.Sync && FrameCodec.TryRead(sent.Type, sent.Body, out _, out var frame) && frame is SyncAsk ask) lacking = ask.Groups.Count(static known => known.View == 0);
            return CrashMoment.None;
        });
        Lack(one);
        Assert.True(cluster.RunUntil(() => dead, 0.5), $"{answers} answers");
        Assert.InRange(lacking, 1, groups);
        cluster.Run(0.7);
        lacking = -1;
        var last = one.Groups.Groups.Last().View!;
        one.Node.Post(() => one.Oracle.Sync(last.Group, last.Id, 0));
        Assert.True(cluster.RunUntil(() => lacking >= 0, 0.15));
        Assert.Equal(0, lacking);
        cluster.AssertNoViolations();
    }

    /// <summary>If other replicas were asked meanwhile, they would fill their links to the process with the same views, and leases would wait behind them.</summary>
    [Fact]
    public void No_other_replica_is_asked_for_what_is_on_its_way_while_answers_take_long()
    {
        // An answer of 256 KiB takes a third of a second.
        using var cluster = Grown(4_000, new() { BytesPerSecond = 800_000 }, out var one);
        int asked = 0, answered = 0;
        foreach (var process in cluster.Alive)
        {
            process.Node.WatchFrames((node, sent) =>
            {
                if (sent.Type != FrameType.Sync || !FrameCodec.TryRead(sent.Type, sent.Body, out _, out var frame)) return CrashMoment.None;
                if (frame is SyncAsk && process == one) asked++;
                else if (frame is SyncAnswer { More: true }) answered++;
                return CrashMoment.None;
            });
        }
        Lack(one);
        cluster.Run(2.5);
        // Four answers hold everything. One question more goes out while it is not yet known how long answers take.
        Assert.InRange(answered, 3, 4);
        Assert.InRange(asked, 4, 5);
        cluster.AssertNoViolations();
    }

    /// <summary>One group brings as many views as are kept for it, and each view names all members.</summary>
    [Fact]
    public void What_a_replica_tells_at_once_is_bounded_within_a_group_too_and_the_rest_follows_in_order()
    {
        const int members = 600, share = 256 << 10, apart = 100 * 1_000_000;
        var bus = new LogBus();
        var node = bus.Add(1);
        var sender = new FrameSender(node);
        var replica = new OracleReplica(node, new(), sender, () => { }, () => { });
        var state = replica.State;
        ulong index = 0;
        var tag = new string('t', Limits.TagBytes);
        for (ulong id = 1; id <= members; id++)
            state.Apply(++index, OperationCodec.WriteEntry([new(default, 0, 0, new Register(id, LogBus.ReplicaOf(id).Address, tag, "", 0, 0, Durations.Second))]));
        var ids = state.Processes.Select(process => process.Id).ToList();
        state.Apply(++index, OperationCodec.WriteEntry([new(ids[0], 1, 0, new Create("g", new(), 0, ids))]));
        var group = state.FindGroup("g")!;
        for (ulong number = 2; group.View.Id < Limits.InstallsKept; number += 2)
        {
            state.Apply(++index, OperationCodec.WriteEntry([new(ids[0], number, 0, new Renew(group.Id, group.View.Id))]));
            state.Apply(++index, OperationCodec.WriteEntry([new(ids[0], number + 1, 0, new ViewCompletion(group.Id, group.View.Id, group.Pending!.Number, ids))]));
        }
        state.Apply(++index, OperationCodec.WriteEntry([new(ids[0], 100, 0, new Renew(group.Id, group.View.Id))]));

        ulong view = 1, proposal = 0;
        for (int answers = 1; proposal == 0; answers++)
        {
            Assert.InRange(answers, 1, 10);
            bus.Pass(apart);
            replica.OnSync(FrameSender.Own, LogBus.ReplicaOf(ids[1].Node), new(ids[1], [new(group.Id, view, 0)]));
            int bytes = 0, last = 0;
            bool ended = false, more = false;
            while (sender.TryTakeOwn(out var type, out byte[] body))
            {
                Assert.False(ended);
                Assert.True(FrameCodec.TryRead(type, body, out _, out var frame));
                if (frame is InstallFrame { View: { } install }) Assert.Equal(++view, install.Id);
                if (frame is ProposeFrame { Proposal: { } pending }) proposal = pending.Number;
                if (frame is SyncAnswer answer) (ended, more) = (true, answer.More);
                if (!ended) (bytes, last) = (bytes + body.Length, body.Length);
            }
            Assert.True(ended);
            Assert.Equal(proposal == 0, more);
            Assert.InRange(bytes, 1, share + last);
        }
        Assert.Equal((group.View.Id, group.Pending!.Number), (view, proposal));
    }

    /// <summary>Makes a system of six processes; one that is no replica is in the given number of groups, alone in each.</summary>
    private static OracleCluster Grown(int groups, LinkModel link, out OracleCluster.Process grown)
    {
        var cluster = new OracleCluster(1, 6, link: link);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Alive.Count(process => process.Oracle.State == MembershipState.Active) == 6, 10), cluster.Describe());
        cluster.Run(3);
        var one = cluster.Alive.Last(process => process.Oracle.Replica is null);
        string tail = new('n', 100), tag = new('t', Limits.TagBytes);
        for (int i = 0; i < groups; i++)
        {
            string name = $"{i}{tail}";
            one.Node.Post(() => one.Oracle.Join(name, new(), tag));
            if (i % 500 == 499) Assert.True(cluster.RunUntil(() => one.Groups.Groups.Count(group => group.View is not null) == i + 1, 20), cluster.Describe());
        }
        cluster.Run(2);
        grown = one;
        return cluster;
    }

    /// <summary>Makes the process ask as if it knew no view of any of its groups.</summary>
    private static void Lack(OracleCluster.Process one) => one.Node.Post(() =>
    {
        foreach (var group in one.Groups.Groups) one.Oracle.Sync(group.View!.Group, 0, 0);
    });

    private static void AskForAll(OracleCluster.Process one)
    {
        foreach (var group in one.Groups.Groups)
            if (group.View is { } view) one.Oracle.Sync(view.Group, view.Id, 0);
    }
}
