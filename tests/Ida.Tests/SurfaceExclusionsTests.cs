using Ida.Testing.Checking;

namespace Ida.Tests;

/// <summary>A caller that was told that a key does not hold a value is contradicted if the key held it all the while, and only then.</summary>
public sealed class SurfaceExclusionsTests
{
    private const string Key = "v:a0", List = "m:a0";
    private readonly HistoryRecorder _recorder = new(clock: static () => 0);
    private readonly SurfaceExclusions _exclusions = new();
    private int _client;

    [Fact]
    public void A_removal_that_found_an_entry_where_nobody_had_put_one_is_wrong()
    {
        TellRemoved();
        Assert.Contains("nobody had put", Wrong(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_removal_that_found_an_entry_after_another_had_removed_it_is_wrong()
    {
        Write(1);
        Write(HistoryValue.Absent);
        TellRemoved();
        Assert.NotNull(Wrong());
    }

    [Fact]
    public void A_removal_that_found_an_entry_after_a_read_had_found_none_is_wrong()
    {
        Write(1);
        _recorder.Info(Invoke(HistoryFunctions.Put, [HistoryValue.Absent]));
        Read(HistoryValue.Absent);
        TellRemoved();
        Assert.NotNull(Wrong());
    }

    [Fact]
    public void A_removal_may_have_found_what_was_put_before_or_beside_it()
    {
        Write(1);
        TellRemoved();
        string put = Invoke(HistoryFunctions.Put, [2]);
        TellRemoved();
        _recorder.Ok(put);
        Write(HistoryValue.Absent);
        // Nobody knows what became of this put: it may take effect at any time.
        _recorder.Info(Invoke(HistoryFunctions.Put, [3]));
        Write(HistoryValue.Absent);
        TellRemoved();
        Assert.Null(Wrong());
    }

    [Fact]
    public void What_did_not_happen_and_what_came_later_explains_nothing()
    {
        _recorder.Fail(Invoke(HistoryFunctions.Put, [1]));
        TellRemoved();
        Write(2);
        Assert.NotNull(Wrong());
    }

    [Fact]
    public void A_condition_that_was_not_met_though_the_key_held_the_value_is_wrong()
    {
        Write(1);
        Read(1);
        TellNotMet(1);
        Assert.Contains("held that since", Wrong(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_condition_may_be_missed_where_another_value_was_put_before_or_beside_it()
    {
        Write(1);
        Write(2);
        TellNotMet(1);
        string put = Invoke(HistoryFunctions.Put, [3]);
        TellNotMet(2);
        _recorder.Ok(put);
        Assert.Null(Wrong());
    }

    /// <summary>A put whose end is not known may take effect at any time, but not with a version below that of the value.</summary>
    [Theory]
    [InlineData(4L, true)]
    [InlineData(6L, false)]
    public void A_lower_version_comes_before(long other, bool wrong)
    {
        string beside = Invoke(HistoryFunctions.Put, [2]);
        string put = Invoke(HistoryFunctions.Put, [1]);
        _recorder.Ok(put, null, [5]);
        Read(1);
        _recorder.Ok(beside, null, [other]);
        TellNotMet(1);
        Assert.Equal(wrong, Wrong() is not null);
    }

    [Fact]
    public void A_list_holds_what_a_read_saw_until_more_is_appended()
    {
        string first = Invoke(HistoryFunctions.Append, [1], List);
        _recorder.Ok(first);
        Read(HistoryValue.List(1), List);
        TellNotMet(HistoryValue.List(1), List);
        Assert.NotNull(Wrong());
        string second = Invoke(HistoryFunctions.Append, [2], List);
        _recorder.Ok(second);
        var later = new SurfaceExclusions();
        string told = Invoke(HistoryFunctions.Get, null, List);
        _recorder.Fail(told);
        later.Add(told, List, HistoryValue.List(1));
        Assert.Null(later.Wrong(_recorder.ToHistory()));
    }

    /// <summary>Such operations are not bound to real time, neither as evidence nor as what is judged.</summary>
    [Fact]
    public void Operations_at_level_Ordered_prove_nothing()
    {
        Write(1);
        string ordered = _recorder.Invoke("o", "m0", HistoryFunctions.Get, [Key], null, HistoryLevel.Ordered);
        _recorder.Fail(ordered);
        _exclusions.Add(ordered, Key, 1);
        string put = _recorder.Invoke("p", "m0", HistoryFunctions.Put, [Key], [2], HistoryLevel.Ordered);
        _recorder.Ok(put);
        Read(1);
        TellNotMet(1);
        Assert.Null(Wrong());
    }

    private string? Wrong() => _exclusions.Wrong(_recorder.ToHistory());

    private string Invoke(string function, HistoryValue[]? values, string key = Key) => _recorder.Invoke($"c{++_client}", "m0", function, [key], values);

    private void Write(HistoryValue value) => _recorder.Ok(Invoke(HistoryFunctions.Put, [value]));

    private void Read(HistoryValue value, string key = Key) => _recorder.Ok(Invoke(HistoryFunctions.Get, null, key), [value]);

    private void TellRemoved()
    {
        string removal = Invoke(HistoryFunctions.Put, [HistoryValue.Absent]);
        _recorder.Ok(removal);
        _exclusions.Add(removal, Key, HistoryValue.Absent);
    }

    private void TellNotMet(HistoryValue value, string key = Key)
    {
        string found = Invoke(HistoryFunctions.Get, null, key);
        _recorder.Fail(found);
        _exclusions.Add(found, key, value);
    }
}
