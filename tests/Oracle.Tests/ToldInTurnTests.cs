using Oracle.Leading;
using Oracle.State;

namespace Oracle.Tests;

/// <summary>Processes that must be told something, a bounded number with each step.</summary>
public sealed class ToldInTurnTests
{
    private const int PerStep = 256;
    private readonly ToldInTurn _told = new();

    [Fact]
    public void Processes_are_told_in_order_a_bounded_number_with_each_step()
    {
        for (ulong node = 1; node <= 300; node++) _told.Add(Of(node));
        Assert.Equal(Enumerable.Range(1, PerStep), Taken());
        _told.Step();
        Assert.Equal(Enumerable.Range(1 + PerStep, 300 - PerStep), Taken());
    }

    /// <summary>When its turn comes, it is told the latest news. If it went back to the end of the line, it might never be reached while changes keep coming.</summary>
    [Fact]
    public void A_process_that_is_to_be_told_again_keeps_its_place()
    {
        foreach (ulong node in (ulong[])[1, 2, 1, 3, 1]) _told.Add(Of(node));
        Assert.Equal([1, 2, 3], Taken());
    }

    [Fact]
    public void A_process_that_was_told_may_be_told_again_behind_those_that_wait()
    {
        _told.Add(Of(1));
        _told.Add(Of(2));
        Assert.True(_told.TryTake(out var first));
        _told.Add(first);
        Assert.Equal([2, 1], Taken());
    }

    [Fact]
    public void What_an_earlier_leadership_had_to_tell_is_forgotten()
    {
        _told.Add(Of(1));
        _told.Clear();
        Assert.Empty(Taken());
        _told.Add(Of(1));
        Assert.Equal([1], Taken());
    }

    private static ProcessRecord Of(ulong node) => new(new(node, node), LogBus.ReplicaOf(node).Address, "", "", 0, 0, 0, true);

    private List<int> Taken()
    {
        var taken = new List<int>();
        while (_told.TryTake(out var process)) taken.Add((int)process.Id.Node);
        return taken;
    }
}
