using GroupCore.Membership;

namespace GroupCore.Tests;

public sealed class RanksTests
{
    private static List<ProcessId> Members(params int[] ids) => [.. ids.Select(i => new ProcessId((ulong)i, (ulong)i))];

    private static int[] Next(int count, int[] gone, int[] joined, Composition policy) =>
        [.. Ranks.Compose(Members([.. Enumerable.Range(0, count)]), p => !gone.Contains((int)p.Incarnation), Members(joined), policy).Select(p => (int)p.Incarnation)];

    [Fact]
    public void B11_hot_swap_moves_the_last_member_into_the_hole()
    {
        var next = Next(20, [5], [], Composition.HotSwap);
        Assert.Equal(19, next[5]);
        Assert.Equal([.. Enumerable.Range(0, 5), 19, .. Enumerable.Range(6, 13)], next);
    }

    [Fact]
    public void B11_hot_swap_with_the_last_rank_gone_too_moves_the_one_before()
    {
        var next = Next(20, [5, 19], [], Composition.HotSwap);
        Assert.Equal(18, next[5]);
        Assert.Equal(18, next.Length);
    }

    [Fact]
    public void Hot_swap_puts_a_joiner_into_the_hole() =>
        Assert.Equal([0, 9, 2, 3], Next(4, [1], [9], Composition.HotSwap));

    [Fact]
    public void B11_shift_keeps_the_order_of_survivors_and_appends_joiners() =>
        Assert.Equal([0, 2, 4, 9, 8], Next(5, [1, 3], [9, 8], Composition.Shift));

    [Fact]
    public void All_gone_leaves_nobody() => Assert.Empty(Next(3, [0, 1, 2], [], Composition.HotSwap));
}
