using Ida.Ordering;

namespace Ida.Tests;

/// <summary>The attempts that a participant holds, by the operation to which they belong.</summary>
public sealed class RecordTableTests
{
    private readonly RecordTable _records = new();

    [Fact]
    public void An_attempt_is_found_by_operation_number_and_payload()
    {
        var (one, other) = (Add(1, 1), Add(1, 1, payload: 9));
        Assert.Same(one, _records.Find(one.Key));
        Assert.Same(other, _records.Find(other.Key));
        Assert.Null(_records.Find(new(one.Key.Id, 2)));
        Assert.Null(_records.Find(new(new(7, 2), 1)));
    }

    [Fact]
    public void Attempts_of_one_operation_hang_together_and_on_no_other()
    {
        var (first, second, third) = (Add(1, 1), Add(1, 2), Add(1, 3));
        Add(2, 1);
        Assert.Equal([third, second, first], Attempts(1));
        Assert.Single(Attempts(2));
        Assert.Equal(4, _records.Count);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void An_attempt_that_goes_leaves_the_others(int number)
    {
        ParticipantRecord[] all = [Add(1, 1), Add(1, 2), Add(1, 3)];
        var gone = all[number - 1];
        _records.Remove(gone);
        Assert.Null(_records.Find(gone.Key));
        Assert.Null(gone.OtherAttempt);
        Assert.Equal(all.AsEnumerable().Reverse().Where(one => one != gone), Attempts(1));
        Assert.Equal(2, _records.Count);
    }

    [Fact]
    public void An_operation_is_unknown_when_its_last_attempt_has_gone()
    {
        var only = Add(1, 1);
        _records.Remove(only);
        Assert.Null(_records.AttemptsOf(only.Key.Id));
        Assert.Equal(0, _records.Count);
        Assert.Same(Add(1, 2), _records.AttemptsOf(only.Key.Id));
    }

    /// <summary>The table remembers what was looked up last, even that there was nothing.</summary>
    [Fact]
    public void What_is_added_or_removed_after_it_was_looked_up_is_seen()
    {
        Assert.Null(_records.Find(new(new(7, 1), 1)));
        var one = Add(1, 1);
        Assert.Same(one, _records.Find(one.Key));
        var two = Add(2, 1);
        Assert.Same(one, _records.Find(one.Key));
        _records.Remove(two);
        Assert.Same(one, _records.Find(one.Key));
        _records.Remove(one);
        Assert.Null(_records.Find(one.Key));
    }

    [Fact]
    public void What_is_not_held_cannot_go()
    {
        Add(1, 1);
        _records.Remove(Record(1, 1));
        _records.Remove(Record(2, 1));
        Assert.Equal(1, _records.Count);
        Assert.Single(Attempts(1));
    }

    [Fact]
    public void A_table_that_was_cleared_finds_nothing()
    {
        var one = Add(1, 1);
        _records.Clear();
        Assert.Null(_records.Find(one.Key));
        Assert.Equal(0, _records.Count);
    }

    private static ParticipantRecord Record(ulong sequence, uint attempt, ulong payload = 0) => new(new()) { Key = new(new(7, sequence), attempt, payload) };

    private ParticipantRecord Add(ulong sequence, uint attempt, ulong payload = 0)
    {
        var record = Record(sequence, attempt, payload);
        _records.Add(record);
        return record;
    }

    private List<ParticipantRecord> Attempts(ulong sequence)
    {
        var all = new List<ParticipantRecord>();
        for (var one = _records.AttemptsOf(new(7, sequence)); one is not null; one = one.OtherAttempt) all.Add(one);
        return all;
    }
}
