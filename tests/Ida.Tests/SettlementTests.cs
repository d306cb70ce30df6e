using Ida.Ordering;

namespace Ida.Tests;

/// <summary>What is kept of commits until their receivers have counted them.</summary>
public sealed class SettlementTests
{
    /// <summary>A member counts nothing of what it gets: the next view, in which all begin to count anew, is asked for.</summary>
    [Fact]
    public void R_commits_that_nobody_counts_are_bounded_by_a_view()
    {
        var world = DhtWorld.Founded(4);
        var layer = world.Members[0].Host.Current!;
        var settlement = new Settlement(layer.State, new(layer.State), layer.Participant);
        settlement.Begin(4);
        int[] ranks = new int[4096];
        Array.Fill(ranks, 1);
        for (int i = 0; i < Settlement.MostOpen / ranks.Length; i++) settlement.CommitSent(ranks, null);
        Assert.False(world.ViewRequested);
        settlement.CommitSent(ranks, null);
        Assert.True(world.ViewRequested);
    }
}
