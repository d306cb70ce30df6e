namespace Ida.Cluster.Tests;

/// <summary>A report that a shard is lost is not simply believed: a member that is told so while it holds the shard itself is found; so is a scenario that loses too much.</summary>
public sealed class LossTests
{
    private static readonly HeldShard s_holder = new(null, 0, true, false);
    private readonly HeldShards _held = new();
    private HeldShard _now = s_holder;

    [Fact]
    public void A_member_that_is_told_that_a_shard_is_lost_which_it_holds_is_found()
    {
        Watch();
        _now = new(new ShardDepopulatedException(0, 7), -1, false, false);
        Assert.Contains("m0 was told that shard 0 has no initialised member in view 7, and it held all of it itself", _held.Look(), StringComparison.Ordinal);
        Assert.NotNull(_held.Look());
    }

    [Fact]
    public void A_member_that_held_another_shard_or_not_all_of_it_or_gave_it_up_is_rightly_told_so()
    {
        foreach (var before in new[] { s_holder with { Shard = 1 }, s_holder with { IsInitialised = false }, s_holder with { IsLeaving = true }, new(null, -1, false, false) })
        {
            _now = before;
            Watch();
            _now = new(new ShardDepopulatedException(0, 7), -1, false, false);
            Assert.Null(_held.Look());
        }
        Assert.Equal(4, _held.Told);
    }

    [Fact]
    public void A_member_is_judged_by_what_it_held_last()
    {
        _now = s_holder with { IsInitialised = false };
        Watch();
        _now = s_holder;
        Assert.Null(_held.Look());
        _now = new(new ShardDepopulatedException(0, 7), -1, false, false);
        Assert.NotNull(_held.Look());
    }

    [Fact]
    public void Another_end_is_not_judged()
    {
        Watch();
        _now = new(new NotDhtMemberException("it has left"), -1, false, false);
        Assert.Null(_held.Look());
        Assert.Equal(0, _held.Told);
    }

    [Theory]
    [InlineData(0, 1_000, 0.05, false)]
    [InlineData(60, 1_000, 0.05, false)]
    [InlineData(100, 1_000, 0.05, true)]
    [InlineData(1_000, 1_000, 0.05, true)]
    [InlineData(2, 3, 0.05, false)]
    [InlineData(1, 1_000, 0.0, true)]
    [InlineData(0, 1_000, 0.0, false)]
    public void A_scenario_that_loses_too_much_is_named(long lost, long seeds, double most, bool named) => Assert.Equal(named, LostShare.IsTooLarge(lost, seeds, most));

    [Fact]
    public void A_scenario_without_a_bound_may_lose_in_all_its_seeds() => Assert.False(LostShare.IsTooLarge(10, 10, null));

    [Fact]
    public void Programs_in_one_view_serve_in_one_dht()
    {
        using var simulation = new Ida.Testing.Simulation(1);
        var (one, other) = (new LifeHistory(simulation), new LifeHistory(simulation));
        Assert.True(LifeCluster.AreOfOneDht(one, one));
        Assert.False(LifeCluster.AreOfOneDht(one, other));
        Assert.False(LifeCluster.AreOfOneDht(one, null));
    }

    private void Watch() => _held.Watch("m0", () => _now);
}
