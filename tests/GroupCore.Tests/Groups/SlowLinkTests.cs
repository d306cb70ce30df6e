using GroupCore.Transport;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>Links of a fixed bandwidth under more bulk than they carry: what waits on them is bounded in bytes and time, and control frames pass.</summary>
public sealed class SlowLinkTests
{
    private const long BytesPerSecond = 2_500_000;

    [Theory, InlineData(1), InlineData(2), InlineData(3)]
    public void F8_a_view_change_passes_while_bulk_fills_a_slow_link(ulong seed)
    {
        int delivered = 0;
        using var cluster = new GroupCluster(seed, 2, more: g => g.Handle<byte[]>("bulk", (from, m) => delivered++), link: new() { BytesPerSecond = BytesPerSecond });
        Assert.True(cluster.Settle());
        var from = cluster[0];
        for (int i = 0; i < 400; i++) _ = cluster.Simulation.Spawn(() => from.Group!.SendAsync("bulk", new byte[60_000]).AsTask());
        // Time for the budget to find the speed of the link.
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        long most = 0;
        int peer = from.SimNode.Node.Links.Open(cluster[1].SimNode.Address);
        cluster.Simulation.AddInvariant("backlog", () =>
        {
            most = Math.Max(most, from.SimNode.Node.Links.Backlog(peer));
            return null;
        });
        ulong view = from.Group!.CurrentView.Id;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => from.Group.CurrentView.Id > view, TimeSpan.FromSeconds(2)), $"{from.Group.Protocol} {cluster[1].Group!.Protocol} {delivered} most {most}");
        Assert.True(cluster.Simulation.RunUntil(() => delivered == 800, TimeSpan.FromSeconds(30)), $"{delivered} delivered");
        Assert.InRange(most, 1, LinkLimits.LeastBulkBytes * 2);
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    [Theory, InlineData(1), InlineData(2), InlineData(3)]
    public void R7_a_member_that_forwards_as_fast_as_a_slow_link_goes_is_not_suspected(ulong seed)
    {
        using var cluster = new GroupCluster(seed, 6, more: g => g.Handle<byte[]>("bulk", static (from, m) => { }), link: new() { BytesPerSecond = 500_000 });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        // What four members send reaches the second member only, and then the four are gone.
        var dying = cluster.Members.Skip(2).ToList();
        foreach (var member in dying) cluster.Simulation.Network.Cut(member.SimNode, cluster[0].SimNode, CutMode.Drop);
        foreach (var member in dying)
            for (int i = 0; i < 15; i++) _ = cluster.Simulation.Spawn(() => member.Group!.SendAsync("bulk", new byte[60_000]).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        var (lacking, holder) = (cluster[0].Group!.Protocol, cluster[1].Group!.Protocol);
        long lacks = dying.Sum(m => holder.Multicast.ReceivedOf(holder.View!.RankOf(m.Id)) - lacking.Multicast.ReceivedOf(lacking.View!.RankOf(m.Id)));
        Assert.True(lacks > 20, $"{lacks} lack");
        foreach (var member in dying) member.Crash();
        cluster.Oracle.Fail([.. dying.Select(static m => m.Membership)]);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Members.Count == 2, TimeSpan.FromSeconds(60)), $"{cluster[0].Group!.Protocol}");
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.True(cluster.Verdict() is null, cluster.Verdict());
    }

    [Theory, InlineData(1), InlineData(2), InlineData(3)]
    public void A_member_whose_hook_waits_for_the_link_to_another_is_not_suspected_and_what_its_hook_sends_the_others_goes_out(ulong seed)
    {
        int hooks = 0, joined = 0;
        using var cluster = new GroupCluster(seed, 4, link: new() { BytesPerSecond = BytesPerSecond }, more: g => g
            .Handle<byte[]>("bulk", static (from, m) => { })
            .Handle<int>("hook", (from, m) => hooks++)
            .OnViewProposed(joined++ == 3 ? static (proposal, context) => context.Done() : static (proposal, context) =>
            {
                // The last member comes first, so the messages to the others are queued behind its own.
                for (int i = context.Survivors.Count - 1; i >= 0; i--) _ = context.SendAsync(context.View.RankOf(context.Survivors[i]), "hook", 1).AsTask();
                context.Done();
            }));
        Assert.True(cluster.Settle());
        void Bulk(int count)
        {
            foreach (var member in cluster.Members.Take(3))
                for (int i = 0; i < count; i++) _ = cluster.Simulation.Spawn(() => member.Group!.SendAsync("bulk", new byte[60_000]).AsTask());
        }
        // Time for the budgets to find the speed of the links.
        Bulk(40);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        var slow = cluster[3];
        int last = slow.Group!.Rank;
        foreach (var other in cluster.Members.Take(3)) cluster.Simulation.Network.Cut(other.SimNode, slow.SimNode, CutMode.Hold);
        Bulk(60);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        int shut = 0;
        foreach (var other in cluster.Members.Take(3)) other.SimNode.Post(() => shut += other.Group!.Protocol.Links.RoomTo(last) <= 0 ? 1 : 0);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal(3, shut);
        ulong view = cluster[0].Group!.CurrentView.Id;
        hooks = 0;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3.2));
        Assert.All(cluster.Oracle.Suspicions, suspicion => Assert.Equal(slow.Id, suspicion.Subject));
        // Three hooks have each reached three members.
        Assert.Equal(9, hooks);
        Assert.Equal(view, cluster[0].Group!.CurrentView.Id);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(m => m.Group!.CurrentView.Id > view), TimeSpan.FromSeconds(20)), $"{cluster[0].Group!.Protocol}");
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(12, hooks);
        Assert.All(cluster.Oracle.Suspicions, suspicion => Assert.Equal(slow.Id, suspicion.Subject));
    }

    /// <summary>Answers that wait are kept by rank, and a larger view has ranks that an earlier one, in which answers waited, did not have.</summary>
    [Theory, InlineData(1), InlineData(2)]
    public void Answers_wait_for_the_link_to_a_member_that_came_after_other_answers_had_waited(ulong seed)
    {
        using var cluster = new GroupCluster(seed, 2, link: new() { BytesPerSecond = BytesPerSecond }, more: static g => g.Handle<byte[]>("bulk", static (from, m) => { }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var answering = cluster[0];
        for (int i = 1; i < 4; i++)
        {
            var asker = i == 1 ? cluster[1] : cluster.Add();
            Assert.True(cluster.Simulation.RunUntil(() => asker.Group is not null && answering.Group!.CurrentView.Members.Count == i + 1, TimeSpan.FromSeconds(10)));
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            cluster.Simulation.Network.Cut(answering.SimNode, asker.SimNode, CutMode.Hold);
            for (int sent = 0; sent < 100; sent++) _ = cluster.Simulation.Spawn(() => answering.Group!.SendAsync("bulk", new byte[60_000]).AsTask());
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            int answers = 0;
            _ = cluster.Simulation.Spawn(async () => answers += await asker.Group!.QueryToAsync<int, int>(answering.Group!.Rank, "ask", 1, TimeSpan.FromMinutes(1)));
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            Assert.Equal(0, answers);
            cluster.Simulation.Network.Heal();
            Assert.True(cluster.Simulation.RunUntil(() => answers == 1, TimeSpan.FromSeconds(20)));
            cluster.Simulation.Run(TimeSpan.FromSeconds(20));
        }
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    /// <summary>
    /// Another member may fill the link for any time with answers, asking for the next as fast as it gets one. Messages still have their turn, and so have the answers.
    /// </summary>
    [Theory, InlineData(true), InlineData(false)]
    public void Messages_have_room_beside_answers_that_fill_the_link(bool ordered)
    {
        int answers = 0, delivered = 0;
        using var cluster = new GroupCluster(4, 2, link: new() { BytesPerSecond = BytesPerSecond }, more: g => g
            .Handle<byte[]>("bulk", (from, m) => delivered++)
            .OnQuery<int, byte[]>("much", static byte[] (from, q) => new byte[60_000]));
        Assert.True(cluster.Settle());
        var (giving, asking) = (cluster[0], cluster[1]);
        Task Send() => ordered ? giving.Group!.OrderedSendAsync("bulk", new byte[60_000]).AsTask() : giving.Group!.SendToAsync(asking.Group!.Rank, "bulk", new byte[60_000]).AsTask();
        for (int i = 0; i < 100; i++)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                while (true)
                {
                    await asking.Group!.QueryToAsync<int, byte[]>(giving.Group!.Rank, "much", 1, TimeSpan.FromMinutes(1)).ConfigureAwait(false);
                    answers++;
                }
            });
        }
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        for (int i = 0; i < 100; i++)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                while (true) await Send().ConfigureAwait(false);
            });
        }
        int before = answers;
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.True(delivered > 15 && answers - before > 15, $"{delivered} delivered, {answers - before} answers");
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    /// <summary>Links that messages to one member fill hardly ever have room at the same time, so a multicast goes when each link has had some.</summary>
    [Theory, InlineData(true, 20_000), InlineData(false, 20_000), InlineData(true, 900_000), InlineData(false, 900_000)]
    public void A_multicast_goes_beside_messages_to_one_that_fill_every_link(bool ordered, int bytes)
    {
        int multicast = 0, single = 0;
        using var cluster = new GroupCluster(5, 6, link: new() { BytesPerSecond = BytesPerSecond }, more: g => g
            .Handle<byte[]>("one", (from, m) => single++)
            .Handle<byte[]>("bulk", (from, m) => multicast++));
        Assert.True(cluster.Settle());
        var group = cluster[0].Group!;
        Task Send() => ordered ? group.OrderedSendAsync("bulk", new byte[10_000]).AsTask() : group.SendAsync("bulk", new byte[10_000]).AsTask();
        int seconds = bytes / 40_000;
        for (int i = 0; i < (bytes > 100_000 ? 20 : 500); i++)
        {
            int to = (group.Rank + 1 + (i % 5)) % 6;
            byte[] message = new byte[bytes + (to * bytes / 40)];
            _ = cluster.Simulation.Spawn(async () =>
            {
                while (true) await group.SendToAsync(to, "one", message).ConfigureAwait(false);
            });
        }
        cluster.Simulation.Run(TimeSpan.FromSeconds(3 + seconds));
        _ = cluster.Simulation.Spawn(async () =>
        {
            while (true) await Send().ConfigureAwait(false);
        });
        int before = single;
        cluster.Simulation.Run(TimeSpan.FromSeconds(5 + seconds));
        Assert.True(multicast > 6 * 20 && (single - before) * (long)bytes > 12_000_000, $"{multicast} multicast, {single - before} to one");
        Assert.Empty(cluster.Oracle.Suspicions);
    }
}
