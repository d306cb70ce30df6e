using Ida.Coordination;

namespace Ida.Tests;

/// <summary>The numbers of a session, which the loop gives to operations and callers take beforehand.</summary>
public sealed class OperationNumbersTests
{
    [Fact]
    public void Puts_get_odd_numbers_and_reads_even_ones_each_once()
    {
        var numbers = new OperationNumbers();
        Assert.Equal([1UL, 3, 4, 6, 7, 9, 11], new[] { numbers.Next(put: true), numbers.Take(), numbers.Next(put: false), numbers.Next(put: false), numbers.Take(), numbers.Take(), numbers.Next(put: true) });
        Assert.Equal(11UL, numbers.Last);
    }

    [Fact]
    public void A_number_that_was_taken_is_kept_for_so_many_more_puts()
    {
        var numbers = new OperationNumbers { Kept = 3 };
        numbers.Next(put: true);
        Assert.Equal(2UL, numbers.KeptFrom());
        ulong first = numbers.Take();
        for (int i = 0; i < 10; i++) numbers.Next(put: false);
        Assert.Equal(first, numbers.KeptFrom());
        numbers.Next(put: true);
        ulong second = numbers.Take();
        Assert.Equal(first, numbers.KeptFrom());
        numbers.Next(put: true);
        Assert.Equal(second, numbers.KeptFrom());
        Assert.Equal(5UL, numbers.Puts);
        numbers.Next(put: true);
        numbers.Next(put: true);
        Assert.Equal(numbers.Last + 1, numbers.KeptFrom());
        Assert.False(numbers.Release());
        numbers.Take();
        Assert.True(numbers.Release());
        Assert.Equal(numbers.Last + 1, numbers.KeptFrom());
    }

    /// <summary>Puts were given numbers in between, and the loop has not heard of the last number that was taken.</summary>
    [Fact]
    public void All_numbers_that_were_taken_are_released_and_those_taken_later_are_kept()
    {
        var numbers = new OperationNumbers();
        for (int round = 1; round < 4; round++)
        {
            ulong before = numbers.Puts, first = numbers.Take();
            numbers.Next(put: true);
            numbers.Take();
            numbers.Next(put: false);
            Assert.Equal(first, numbers.KeptFrom());
            numbers.Take();
            Assert.True(numbers.Release());
            Assert.False(numbers.Release());
            Assert.Equal((numbers.Last + 1, before + 4, round), (numbers.KeptFrom(), numbers.Puts, numbers.Releases));
            numbers.Next(put: true);
            Assert.Equal(numbers.Last + 1, numbers.KeptFrom());
        }
    }

    /// <summary>The loop asks while callers take numbers, and may go on with what it found the last time: that must be what was released, not what was kept before.</summary>
    [Fact]
    public async Task What_is_released_stays_so_while_other_numbers_are_taken()
    {
        const int Takers = 2, Rounds = 2_000;
        var numbers = new OperationNumbers();
        bool over = false;
        var takers = Enumerable.Range(0, Takers).Select(_ => Task.Run(() =>
        {
            while (!Volatile.Read(ref over)) numbers.Take();
        }, TestContext.Current.CancellationToken)).ToArray();
        ulong low = 0;
        for (int round = 0; round < Rounds && low == 0;)
        {
            ulong last = numbers.Last;
            if (!numbers.Release()) continue;
            round++;
            // Only the last one may have been given and not be known to the loop yet.
            if (numbers.KeptFrom() < last) low = last;
        }
        Volatile.Write(ref over, true);
        await Task.WhenAll(takers);
        Assert.Equal(0UL, low);
    }

    /// <summary>Nobody puts anything, and callers take number after number.</summary>
    [Fact]
    public void Numbers_that_are_only_taken_are_bounded()
    {
        var numbers = new OperationNumbers();
        ulong last = 0;
        for (int i = 0; i < 3 * Wire.DhtLimits.TakenIds; i++) last = numbers.Take();
        Assert.Equal(Wire.DhtLimits.TakenIds - 1, (int)((last - numbers.KeptFrom()) / 2));
    }

    /// <summary>What the loop acknowledges is never above a number that somebody has taken and may use.</summary>
    [Fact]
    public async Task A_number_is_kept_from_the_moment_it_is_taken()
    {
        const int Takers = 3, Each = 20_000;
        var numbers = new OperationNumbers();
        ulong acknowledged = 0;
        bool over = false;
        var takers = Enumerable.Range(0, Takers).Select(_ => Task.Run(() =>
        {
            int low = 0;
            for (int i = 0; i < Each; i++)
                if (numbers.Take() < Volatile.Read(ref acknowledged)) low++;
            return low;
        }, TestContext.Current.CancellationToken)).ToArray();
        var loop = Task.Run(() =>
        {
            while (!Volatile.Read(ref over))
            {
                numbers.Next(put: false);
                ulong kept = numbers.KeptFrom();
                if (kept > acknowledged) Volatile.Write(ref acknowledged, kept);
            }
        }, TestContext.Current.CancellationToken);
        int[] low = await Task.WhenAll(takers);
        Volatile.Write(ref over, true);
        await loop;
        Assert.All(low, static count => Assert.Equal(0, count));
    }
}
