using Ida.Coordination;

namespace Ida.Tests;

/// <summary>Calls that wait for a place: puts and reads, each kind in the order of arrival.</summary>
public sealed class WaitingLineTests
{
    private readonly WaitingLine _line = new();

    [Fact]
    public void The_first_call_is_the_one_that_came_first_whatever_it_is()
    {
        IdleOperation[] calls = [IdleOperation.Read(), IdleOperation.Put(), IdleOperation.Put(), IdleOperation.Read()];
        foreach (var call in calls) _line.Add(call);
        foreach (var call in calls)
        {
            Assert.Same(call, _line.First);
            _line.Remove(call);
        }
        Assert.Null(_line.First);
    }

    /// <summary>Puts wait for their session's window, and a read needs none.</summary>
    [Fact]
    public void Reads_are_reached_without_a_walk_past_the_puts_before_them()
    {
        var (put, read) = (IdleOperation.Put(), IdleOperation.Read());
        _line.Add(put);
        for (int i = 0; i < 1_000; i++) _line.Add(IdleOperation.Put());
        _line.Add(read);
        Assert.Same(read, _line.FirstRead);
        Assert.Same(put, _line.FirstPut);
        Assert.Equal((1_002, 1), (_line.Count, _line.Reads));
    }

    [Fact]
    public void To_find_the_next_call_costs_the_same_however_many_wait()
    {
        for (int i = 0; i < 1_000; i++) _line.Add(IdleOperation.Put());
        long before = _line.Looks;
        _ = _line.First;
        Assert.Equal(2, _line.Looks - before);
    }

    [Fact]
    public void A_call_that_comes_back_stands_behind_those_that_came_meanwhile()
    {
        var (first, second) = (IdleOperation.Put(), IdleOperation.Read());
        _line.Add(first);
        _line.Remove(first);
        _line.Add(second);
        _line.Add(first);
        Assert.Same(second, _line.First);
    }
}
