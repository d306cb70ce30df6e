using Ida.Ordering;

namespace Ida.Tests;

/// <summary>What a participant knows of an attempt goes from phase to phase by the stated steps, and in no other way.</summary>
public sealed class RecordPhaseTests
{
    private readonly DhtCounters _counters = new();

    [Fact]
    public void Only_stated_steps_of_an_attempt_are_possible()
    {
        AssertSteps<RecordPhase>(RecordPhases.MayFollow,
            (RecordPhase.Free, RecordPhase.Proposed),
            (RecordPhase.Proposed, RecordPhase.Committed), (RecordPhase.Proposed, RecordPhase.Free),
            (RecordPhase.Committed, RecordPhase.Stable), (RecordPhase.Committed, RecordPhase.Executed),
            (RecordPhase.Stable, RecordPhase.Finished),
            (RecordPhase.Executed, RecordPhase.Finished),
            (RecordPhase.Finished, RecordPhase.Late), (RecordPhase.Finished, RecordPhase.Free),
            (RecordPhase.Late, RecordPhase.Free));
        AssertSteps<QuiescencePhase>(RecordPhases.MayFollow,
            (QuiescencePhase.Untold, QuiescencePhase.AtProposal), (QuiescencePhase.Untold, QuiescencePhase.Early), (QuiescencePhase.Untold, QuiescencePhase.Quiescent),
            (QuiescencePhase.AtProposal, QuiescencePhase.Untold),
            (QuiescencePhase.Early, QuiescencePhase.Quiescent));
        AssertSteps<ResultPhase>(RecordPhases.MayFollow,
            (ResultPhase.None, ResultPhase.Ahead), (ResultPhase.None, ResultPhase.Executed),
            (ResultPhase.Ahead, ResultPhase.Executed), (ResultPhase.Ahead, ResultPhase.None));
    }

    [Fact]
    public void A_step_that_is_not_stated_throws_here_is_counted_and_changes_nothing()
    {
        var op = Proposed();
        Assert.Throws<InvalidOperationException>(() => op.Execute());
        Assert.Throws<InvalidOperationException>(() => op.BecomeStable());
        Assert.Throws<InvalidOperationException>(() => op.Settle());
        Assert.Throws<InvalidOperationException>(() => op.Move(RecordPhase.Proposed));
        Assert.Equal((RecordPhase.Proposed, false, 4), (op.Phase, op.Settled, _counters.ForbiddenSteps));
        op.Commit(100);
        Assert.Throws<InvalidOperationException>(() => op.Commit(101));
        Assert.Throws<InvalidOperationException>(() => op.Move(RecordPhase.Free));
        op.Tell(QuiescencePhase.Quiescent);
        Assert.Throws<InvalidOperationException>(() => op.Tell(QuiescencePhase.Quiescent));
        op.Take(ResultPhase.Executed);
        Assert.Throws<InvalidOperationException>(() => op.Take(ResultPhase.None));
        Assert.Equal((RecordPhase.Committed, 100UL, QuiescencePhase.Quiescent, ResultPhase.Executed, 8), (op.Phase, op.Time, op.Told, op.Result, _counters.ForbiddenSteps));
    }

    /// <summary>Stability may be known before an attempt has its turn here, or after.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void An_attempt_is_finished_when_it_is_executed_and_stable_in_either_order(bool stableFirst)
    {
        var op = Proposed();
        op.Commit(100);
        Assert.Equal((true, false, false), (op.Committed, op.Executed, op.Stable));
        if (stableFirst) op.BecomeStable();
        else op.Execute();
        Assert.Equal((true, !stableFirst, stableFirst), (op.Committed, op.Executed, op.Stable));
        if (stableFirst) op.Execute();
        else op.BecomeStable();
        Assert.Equal((RecordPhase.Finished, true, true), (op.Phase, op.Executed, op.Stable));
        op.Settle();
        op.Move(RecordPhase.Late);
        Assert.Equal((true, true, true), (op.Committed, op.Executed, op.Stable));
        op.Move(RecordPhase.Free);
        op.Reset();
        Assert.Equal((RecordPhase.Free, false, false, false, 0), (op.Phase, op.Committed, op.Settled, op.Stable, _counters.ForbiddenSteps));
    }

    [Theory]
    [InlineData(100)]
    [InlineData(101)]
    public void What_was_computed_ahead_and_told_holds_for_the_time_that_was_proposed(ulong time)
    {
        var op = Proposed();
        op.Tell(QuiescencePhase.AtProposal);
        op.Take(ResultPhase.Ahead);
        op.Commit(time);
        var expected = time == 100 ? (QuiescencePhase.AtProposal, ResultPhase.Ahead) : (QuiescencePhase.Untold, ResultPhase.None);
        Assert.Equal((time, expected), (op.Time, (op.Told, op.Result)));
    }

    private ParticipantRecord Proposed()
    {
        var op = new ParticipantRecord(_counters) { Proposed = 100 };
        op.Move(RecordPhase.Proposed);
        return op;
    }

    private static void AssertSteps<T>(Func<T, T, bool> mayFollow, params (T From, T To)[] stated) where T : struct, Enum
    {
        foreach (var from in Enum.GetValues<T>())
            foreach (var to in Enum.GetValues<T>())
                Assert.True(stated.Contains((from, to)) == mayFollow(from, to), $"{from} to {to}");
    }
}
