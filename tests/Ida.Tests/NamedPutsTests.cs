using Ida.Coordination;

namespace Ida.Tests;

/// <summary>The lowest number among the puts under named ids that are in flight, or wait for a place.</summary>
public sealed class NamedPutsTests
{
    private readonly NamedPuts _puts = new();

    [Fact]
    public void The_lowest_number_is_that_of_the_puts_that_are_there()
    {
        Assert.Equal(ulong.MaxValue, _puts.Least);
        var (high, low) = (Put(9), Put(3));
        Assert.Equal((3UL, 2), (_puts.Least, _puts.Count));
        _puts.Remove(low);
        Assert.Equal(9UL, _puts.Least);
        _puts.Remove(high);
        Assert.Equal((ulong.MaxValue, 0), (_puts.Least, _puts.Count));
    }

    /// <summary>As where a turn threw in the middle of a step.</summary>
    [Fact]
    public void Removing_a_put_that_is_not_there_changes_nothing()
    {
        var put = Put(5);
        _puts.Remove(Of(5));
        Assert.Equal((5UL, 1), (_puts.Least, _puts.Count));
        _puts.Remove(put);
        _puts.Remove(put);
        Assert.Equal(0, _puts.Count);
    }

    [Fact]
    public void Puts_come_and_end_in_any_order()
    {
        for (ulong seed = 1; seed <= 50; seed++)
        {
            var random = new Random((int)seed);
            var there = new List<IdleOperation>();
            for (int step = 0; step < 600; step++)
            {
                // First more and more, then fewer and fewer.
                if (there.Count == 0 || random.Next(600) > step)
                {
                    there.Add(Put((ulong)random.Next(1 << 20)));
                }
                else
                {
                    int at = random.Next(3) == 0 ? there.FindIndex(put => put.Id.Sequence == _puts.Least) : random.Next(there.Count);
                    _puts.Remove(there[at]);
                    there.RemoveAt(at);
                }
                Assert.Equal((there.Count, there.Count == 0 ? ulong.MaxValue : there.Min(static put => put.Id.Sequence)), (_puts.Count, _puts.Least));
            }
            foreach (var put in there) _puts.Remove(put);
            Assert.Equal(0, _puts.Count);
        }
    }

    private IdleOperation Put(ulong sequence)
    {
        var put = Of(sequence);
        _puts.Add(put);
        return put;
    }

    private static IdleOperation Of(ulong sequence)
    {
        var put = IdleOperation.Put();
        put.Id = new(1, sequence);
        return put;
    }
}
