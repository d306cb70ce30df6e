using Ida.Coordination;

namespace Ida.Tests;

/// <summary>The attempts that a member drives, and what it knows of the participants of each.</summary>
public sealed class CoordinatedOperationTests
{
    private readonly CoordinationTable _table = new();

    [Fact]
    public void An_attempt_is_found_while_it_is_driven()
    {
        var (one, other) = (Add(1), Add(2));
        Assert.Same(one, _table.Find(one.Key));
        Assert.Same(other, _table.Find(other.Key));
        Assert.Null(_table.Find(new(new(7, 1), 2)));
        _table.Remove(other);
        Assert.Null(_table.Find(other.Key));
        Assert.Same(one, _table.Find(one.Key));
        Assert.Equal([one], _table.All.Values);
        _table.Clear();
        Assert.Null(_table.Find(one.Key));
    }

    /// <summary>The table remembers the attempt that was looked up last: this memory must not outlive the attempt.</summary>
    [Fact]
    public void An_attempt_that_goes_after_it_was_looked_up_is_not_found()
    {
        var one = Add(1);
        Assert.Same(one, _table.Find(one.Key));
        _table.Remove(one);
        Assert.Null(_table.Find(one.Key));
        var again = Add(1);
        Assert.Same(again, _table.Find(one.Key));
    }

    [Fact]
    public void Any_number_of_participants_have_room()
    {
        var running = new CoordinatedOperation();
        for (ushort slot = 0; slot < 100; slot++) running.Add((ushort)(2 * slot));
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal(i, running.IndexOf(2 * i));
            Assert.Equal(-1, running.IndexOf((2 * i) + 1));
        }
        Assert.Equal(-1, running.IndexOf(-1));
        Assert.Equal(100, running.Count);
    }

    [Fact]
    public void All_means_that_each_participant_has_one_of_the_flags()
    {
        var running = With(SlotFlags.Proposed, SlotFlags.Executed | SlotFlags.Result);
        Assert.True(running.All(SlotFlags.Proposed | SlotFlags.Executed));
        Assert.False(running.All(SlotFlags.Proposed));
        Assert.True(running.Any(SlotFlags.Proposed) && running.Any(SlotFlags.Result));
        Assert.False(running.Any(SlotFlags.Rejected | SlotFlags.NotHeld));
    }

    [Fact]
    public void An_object_that_serves_again_knows_nothing_of_the_participants_before()
    {
        var running = With(SlotFlags.Rejected, SlotFlags.Quiescent);
        (running.Time, running.Phase, running.IsTakeover, running.Single, running.ReturnedEarly, running.RetryAt) = (9, AttemptPhase.Aborting, true, true, true, 9);
        running.Times[0] = 9;
        running.Reset();
        Assert.Equal(-1, running.IndexOf(0));
        running.Add(0);
        Assert.Equal((SlotFlags.None, 0UL), (running.Flags[0], running.Times[0]));
        Assert.Equal((0UL, 0L), (running.Time, running.RetryAt));
        Assert.Equal(AttemptPhase.Asked, running.Phase);
        Assert.False(running.IsTakeover || running.Single || running.ReturnedEarly);
    }

    private static CoordinatedOperation With(params SlotFlags[] flags)
    {
        var running = new CoordinatedOperation();
        for (int i = 0; i < flags.Length; i++)
        {
            running.Add((ushort)i);
            running.Flags[i] = flags[i];
        }
        return running;
    }

    private CoordinatedOperation Add(ulong sequence)
    {
        var running = new CoordinatedOperation { Key = new(new(7, sequence), 1) };
        _table.Add(running);
        return running;
    }
}
