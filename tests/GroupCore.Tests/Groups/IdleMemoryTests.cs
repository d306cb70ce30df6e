using GroupCore.Groups;
using GroupCore.Membership;

namespace GroupCore.Tests.Groups;

/// <summary>
/// A group at rest holds at a member, after messages of every kind, at most 20 KB and 64 B for each member of the group (multicast.md#a-group-at-rest-holds-little).
/// </summary>
[Collection(AllocationTests.Alone)]
public sealed class IdleMemoryTests(ITestOutputHelper output)
{
    [Theory]
    [InlineData(2, 500)]
    [InlineData(64, 8)]
    public void F32_a_group_at_rest_holds_little(int members, int groups)
    {
        var nodes = new LoopbackNode[members];
        for (int i = 0; i < members; i++) nodes[i] = new(nodes, i, bufferBytes: 64 << 10);
        long now = 0;
        // The first group pays for what the process holds once: pools, and code made ready.
        var all = new List<Group[]> { Join(nodes, 0, ref now) };
        Use(nodes, all[0], ref now);
        Rest(nodes, ref now);
        // What earlier tests free meanwhile makes a round look too small, never too large, so the largest counts.
        double bytes = 0;
        for (int round = 0; round < 3; round++)
        {
            long before = Held();
            int first = all.Count;
            for (int g = 0; g < groups; g++) all.Add(Join(nodes, all.Count, ref now));
            foreach (var group in all[first..]) Use(nodes, group, ref now);
            Rest(nodes, ref now);
            bytes = Math.Max(bytes, (Held() - before) / ((double)groups * members));
        }
        GC.KeepAlive(all);
        GC.KeepAlive(nodes);
        output.WriteLine($"{groups} groups of {members}: {bytes:0} B a membership");
        Assert.InRange(bytes, 1 << 10, (20 << 10) + (64 * members));
    }

    [Fact]
    public void A_burst_of_calls_that_wait_leaves_nothing_in_a_group_at_rest()
    {
        var nodes = new LoopbackNode[2];
        for (int i = 0; i < nodes.Length; i++) nodes[i] = new(nodes, i, bufferBytes: 8 << 20);
        long now = 0, grown = long.MaxValue;
        var all = new List<Group[]>();
        // The first round pays for what the process holds once.
        for (int round = 0; round < 6; round++)
        {
            all.Add(Join(nodes, round, ref now));
            Use(nodes, all[^1], ref now);
            Rest(nodes, ref now);
            long before = Held();
            Burst(nodes, all[^1][0], ref now);
            Rest(nodes, ref now);
            if (round > 0) grown = Math.Min(grown, Held() - before);
        }
        GC.KeepAlive(all);
        GC.KeepAlive(nodes);
        output.WriteLine($"{grown} B more");
        Assert.True(grown < 20 << 10, $"{grown} bytes more than before");
    }

    private static void Burst(LoopbackNode[] nodes, Group group, ref long now)
    {
        var payload = new ReadOnlyMemory<byte>(new byte[100]);
        var calls = new List<Task>();
        for (int i = 0; i < 30_000; i++)
        {
            calls.Add(group.OrderedSendAsync("bytes", payload).AsTask());
            if (i % 10_000 == 9_999) nodes[0].Turn(now += 1_000);
        }
        Run(nodes, ref now);
        Assert.All(calls, static call => Assert.True(call.IsCompletedSuccessfully));
    }

    private static long Held()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return GC.GetTotalMemory(forceFullCollection: true);
    }

    private static readonly ViewMember[] s_members = [.. Enumerable.Range(0, 64).Select(static i => new ViewMember(new((ulong)i + 1, (ulong)i + 1), new($"loop:{i}"), true, ""))];

    private static Group[] Join(LoopbackNode[] nodes, int number, ref long now)
    {
        string name = $"g{number}";
        var joined = nodes.Select(m => m.Host.JoinAsync(name, static g => g
            .HandleBytes("bytes", static (from, bytes) => { })
            .OnQuery<int, int>("ask", static (from, question) => question)).AsTask()).ToList();
        Run(nodes, ref now);
        // Each member decodes the view for itself, but has the address of a process only once.
        foreach (var node in nodes) node.Install(new View(new((uint)number + 1, 1), name, 1, 0, new(), [.. s_members[..nodes.Length].Select(static m => m with { })], [], [], [], []));
        Run(nodes, ref now);
        return [.. joined.Select(static j => j.Result)];
    }

    /// <summary>A burst of every kind at a few members, and one of large messages.</summary>
    private static void Use(LoopbackNode[] nodes, Group[] group, ref long now)
    {
        var payload = new ReadOnlyMemory<byte>(new byte[100]);
        var calls = new List<Task>();
        foreach (var member in group.Take(4))
        {
            for (int i = 0; i < 20; i++)
            {
                calls.Add(member.SendAsync("bytes", payload).AsTask());
                calls.Add(member.OrderedSendAsync("bytes", payload).AsTask());
                calls.Add(member.SendToAsync(i % group.Length, "bytes", payload).AsTask());
            }
            calls.Add(member.QueryAsync<int, int>("ask", 1).AsTask());
            Run(nodes, ref now);
        }
        Assert.All(calls, static call => Assert.True(call.IsCompletedSuccessfully));
    }

    private static void Rest(LoopbackNode[] nodes, ref long now)
    {
        for (int i = 0; i < 3; i++)
        {
            now += 6_000_000_000;
            Run(nodes, ref now);
        }
    }

    /// <summary>Turns until nothing happens any more and all acknowledgements are out.</summary>
    private static void Run(LoopbackNode[] nodes, ref long now)
    {
        for (int quiet = 0; quiet < 2;)
        {
            now += quiet == 0 ? 1_000 : 20_000_000;
            bool ran = false;
            foreach (var node in nodes) ran |= node.Turn(now);
            quiet = ran ? 0 : quiet + 1;
        }
    }
}
