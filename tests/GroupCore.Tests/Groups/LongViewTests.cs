using GroupCore.Groups;
using GroupCore.Groups.Flush;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.Shared;

namespace GroupCore.Tests.Groups;

/// <summary>
/// Messages and positions are numbered per view. Long before the numbers run out, the view ends and another with the same members begins
/// (multicast.md#numbers-of-a-view-never-run-out).
/// </summary>
public sealed class LongViewTests
{
    private const uint Limit = 200;

    private static GroupCluster Settled(ulong seed)
    {
        var cluster = new GroupCluster(seed, 0);
        for (int i = 0; i < 3; i++) cluster.Add(host: new() { ViewRecords = Limit });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    [Theory]
    [InlineData(81, false)]
    [InlineData(82, true)]
    public void R_a_view_with_too_many_messages_gives_way_to_another_and_nothing_is_lost(ulong seed, bool ordered)
    {
        using var cluster = Settled(seed);
        ulong view = cluster.Oracle.Find("g")!.View;
        int sent = 0;
        for (int i = 0; i < 20; i++)
        {
            for (int k = 0; k < 150; k++)
            {
                var member = cluster[k % (ordered ? 3 : 1)];
                _ = cluster.Simulation.Spawn(async () =>
                {
                    await member.SendAsync(ordered);
                    sent++;
                });
            }
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }
        Assert.True(cluster.Simulation.RunUntil(() => sent == 3_000, TimeSpan.FromSeconds(20)), $"{sent} sent");
        Assert.True(cluster.Settle());
        Assert.True(cluster.Oracle.Find("g")!.View >= view + 5, $"view {view} to {cluster.Oracle.Find("g")!.View}");
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Theory]
    [InlineData(83, false)]
    [InlineData(84, true)]
    public void R_senders_wait_before_numbers_run_out_while_no_other_view_comes(ulong seed, bool ordered)
    {
        using var cluster = Settled(seed);
        foreach (var member in cluster.Members) member.Membership.Deaf = true;
        for (int k = 0; k < 3_000; k++) _ = cluster.Simulation.Spawn(() => cluster[k % 3].SendAsync(ordered));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        foreach (var member in cluster.Members)
        {
            var report = member.Group!.Protocol.Multicast.Report(1);
            Assert.All(report.Received, count => Assert.InRange(count, Limit, 2 * Limit));
            Assert.InRange(report.OrderLength, 0U, 2 * Limit);
        }
        foreach (var member in cluster.Members) member.Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Find("g")!.View > 5 && cluster.Settle(1), TimeSpan.FromSeconds(30)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>What a view may reach with the default limit, which these tests lower: half as much again as the number at which another view is asked for.</summary>
    private const uint Most = GroupLimits.ViewRecords + (GroupLimits.ViewRecords / 2);

    [Theory]
    [InlineData(GroupLimits.ViewRecords)]
    [InlineData(Most)]
    [InlineData((uint)int.MaxValue)]
    public void R_reports_and_cuts_carry_the_counts_of_the_longest_view(uint count)
    {
        var report = new FlushReport(7, 1, true, 2) { OrderBase = count - 3, OrderClosed = count - 1 };
        (report.Received[0], report.Closed[0], report.Received[1], report.Closed[1]) = (count, count - 2, count, count);
        for (uint x = 3; x > 0; x--) report.Order.Add((0, count - x));
        report.AddPoint(0, count - 1, count);
        byte[] bytes = new byte[report.Size];
        report.Write(bytes);
        var read = FlushReport.Read(bytes, 2)!;
        Assert.Equal((count, count - 2, count, count - 1), (read.Received[0], read.Closed[0], read.OrderLength, read.OrderClosed));
        Assert.Equal(report.Order, read.Order);

        var cut = Closure.Cut(7, 2, [read]);
        Assert.Equal((count - 1, count, count), (cut.Upto[0], cut.Upto[1], cut.OrderLength + 1));
        bytes = new byte[cut.Size];
        cut.Write(bytes);
        var cutRead = FlushCut.Read(bytes, 2)!;
        Assert.Equal((cut.Upto[0], cut.OrderFrom, cut.OrderLength), (cutRead.Upto[0], cutRead.OrderFrom, cutRead.OrderLength));
        Assert.Equal(cut.Records, cutRead.Records);

        var order = new OrderLog();
        order.Append(1, count - 2);
        order.Append(1, count - 1);
        byte[] runs = new byte[OrderRuns.SizeOf(order, 0, 2)];
        OrderRuns.Write(runs, order, 0, 2);
        List<(ushort, uint)> positions = [];
        Assert.True(OrderRuns.TryRead(runs, 2, 10, positions));
        Assert.Equal([((ushort)1, count - 2), ((ushort)1, count - 1)], positions);
    }

    [Fact]
    public void R_counts_beyond_the_longest_view_are_no_report_no_cut_and_no_order()
    {
        const uint beyond = (uint)int.MaxValue + 1;
        var report = new FlushReport(7, 0, true, 1);
        report.Received[0] = beyond;
        byte[] bytes = new byte[report.Size];
        report.Write(bytes);
        Assert.Null(FlushReport.Read(bytes, 1));
        var cut = new FlushCut(7, 1);
        cut.Upto[0] = beyond;
        bytes = new byte[cut.Size];
        cut.Write(bytes);
        Assert.Null(FlushCut.Read(bytes, 1));
        var order = new OrderLog();
        for (uint i = 0; i < 3; i++) order.Append(0, int.MaxValue - 1 + i);
        byte[] runs = new byte[OrderRuns.SizeOf(order, 0, 3)];
        OrderRuns.Write(runs, order, 0, 3);
        Assert.False(OrderRuns.TryRead(runs, 1, 10, []));
    }
}
