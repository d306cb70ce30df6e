using Oracle.Detection;

namespace Oracle.Tests;

/// <summary>Nodes whose links are checked after their exclusion, a bounded number with each tick, since each check is a dial.</summary>
public sealed class ExcludedNodesTests
{
    private const int PerTick = 64;
    private readonly ExcludedNodes _nodes = new();

    [Fact]
    public void Nodes_are_looked_at_in_the_order_of_their_exclusion_a_bounded_number_with_each_tick()
    {
        for (ulong node = 1; node <= 150; node++) _nodes.Add(node);
        Assert.Equal(Enumerable.Range(1, PerTick), Taken());
        Assert.Empty(Taken());
        _nodes.Tick();
        Assert.Equal(Enumerable.Range(1 + PerTick, PerTick), Taken());
        _nodes.Tick();
        Assert.Equal(Enumerable.Range(1 + (2 * PerTick), 150 - (2 * PerTick)), Taken());
    }

    [Fact]
    public void A_node_that_is_named_again_while_it_waits_takes_one_place()
    {
        for (int i = 0; i < 1_000; i++) _nodes.Add(7);
        _nodes.Add(8);
        Assert.Equal([7, 8], Taken());
    }

    /// <summary>The node has already used its place in this tick. Checking it again costs no other node its place.</summary>
    [Fact]
    public void A_node_that_was_looked_at_in_this_tick_is_looked_at_again_at_once()
    {
        for (ulong node = 1; node <= PerTick; node++) _nodes.Add(node);
        Assert.Equal(PerTick, Taken().Count);
        _nodes.Add(5);
        _nodes.Add(100);
        Assert.Equal([5], Taken());
        _nodes.Tick();
        Assert.Equal([100], Taken());
    }

    private List<int> Taken()
    {
        var taken = new List<int>();
        while (_nodes.TryTake(out ulong node)) taken.Add((int)node);
        return taken;
    }
}
