using GroupCore.Groups;
using GroupCore.Groups.State;

namespace GroupCore.Tests.Groups;

/// <summary>User code that saves the state and never ends costs joiners a bounded time, and its own member nothing.</summary>
public sealed class SaveTimeoutTests
{
    private readonly List<GroupError> _errors = [];
    private TimeSpan _takes;
    private StateCut? _cut;

    private GroupCluster Settled(ulong seed, int members, TimeSpan? limit = null)
    {
        GroupCluster? all = null;
        var cluster = new GroupCluster(seed, members, more: g => g.OnError(_errors.Add),
            tap: node => new DelayingNode(all!.Simulation, node, work =>
            {
                if (work is not StateCut cut) return TimeSpan.Zero;
                _cut = cut;
                return _takes;
            }),
            beforeMembers: c =>
            {
                all = c;
                c.HostOptions = new() { SaveTimeout = limit ?? new GroupHostOptions().SaveTimeout };
            });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    [Theory]
    [InlineData(81, null)]
    [InlineData(82, 5)]
    public void R_a_save_that_never_returns_is_given_up_its_joiner_told_and_its_member_stays(ulong seed, int? seconds)
    {
        var limit = TimeSpan.FromSeconds(seconds ?? 60);
        using var cluster = Settled(seed, 2, limit);
        _takes = limit * 3;
        var comer = cluster.Add();
        var begun = cluster.Simulation.Now;
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is not null, limit * 2));
        Assert.InRange(cluster.Simulation.Now - begun, limit * 0.9, limit + TimeSpan.FromSeconds(5));
        var error = Assert.IsType<JoinRefusedException>(comer.JoinError);
        Assert.Contains($"{_cut!.Bytes.Length} bytes were written", error.Message, StringComparison.Ordinal);
        Assert.IsType<TimeoutException>(Assert.Single(_errors).Exception);
        bool sent = false;
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Members.Count == 2, TimeSpan.FromSeconds(5)));
        _ = cluster.Simulation.Spawn(async () =>
        {
            await cluster[0].SendAsync(ordered: true);
            sent = true;
        });
        // The save that was given up comes to its end, which is reported to no one.
        cluster.Simulation.Run(limit * 3);
        Assert.True(sent);
        Assert.Single(_errors);
        _takes = TimeSpan.Zero;
        comer.JoinAgain();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(10)), $"{comer.JoinError}");
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    [Fact]
    public void R_a_save_that_writes_may_take_any_time()
    {
        var limit = TimeSpan.FromSeconds(3);
        using var cluster = Settled(83, 1, limit);
        _takes = TimeSpan.FromSeconds(96);
        var comer = cluster.Add();
        for (int second = 0; second < 95; second++)
        {
            // Now and then the user's code writes a byte.
            if (second % 2 == 0 && _cut is { } cut)
            {
                cut.Bytes.GetSpan(1)[0] = 0;
                cut.Bytes.Advance(1);
            }
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            Assert.Null(comer.JoinError);
        }
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(20)), $"{comer.JoinError}");
        Assert.Empty(_errors);
    }

    [Fact]
    public void What_a_state_that_was_sent_has_written_is_no_measure_for_those_of_later_joiners()
    {
        using var cluster = Settled(85, 1, TimeSpan.FromSeconds(10));
        cluster.StateBytes = 100_000;
        var first = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => first.Group is not null, TimeSpan.FromSeconds(5)), $"{first.JoinError}");
        (cluster.StateBytes, _takes, _cut) = (0, TimeSpan.FromSeconds(8), null);
        // The second joiner comes in the view after the first one's.
        var second = cluster.Add();
        for (int view = 1; view <= 3; view++)
        {
            Assert.True(cluster.Simulation.RunUntil(() => _cut is { IsDropped: false }, TimeSpan.FromSeconds(2)));
            // Each save gets further than the one before.
            _cut!.Bytes.GetSpan(100 * view)[..(100 * view)].Clear();
            _cut.Bytes.Advance(100 * view);
            cluster.Simulation.Run(TimeSpan.FromSeconds(7));
            Assert.Null(second.JoinError);
            cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
            Assert.True(cluster.Simulation.RunUntil(() => _cut.IsDropped, TimeSpan.FromSeconds(2)));
        }
        _takes = TimeSpan.Zero;
        Assert.True(cluster.Simulation.RunUntil(() => second.Group is not null, TimeSpan.FromSeconds(20)), $"{second.JoinError}");
        Assert.Empty(_errors);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(90_000)]
    public void A_time_to_save_out_of_range_is_refused(int seconds) =>
        Assert.Throws<ArgumentException>(() => new GroupCluster(84, 0).Add(host: new() { SaveTimeout = TimeSpan.FromSeconds(seconds) }));
}
