using Ida.Kinds;
using Ida.Ordering;
using Ida.Shared;

namespace Ida.Tests;

/// <summary>
/// A participant is asked about a put that it has executed, by a member that it owes much. A result with a value must then wait, and counts as told only when it is on its way.
/// Until then the attempt is refused, so that another one follows.
/// </summary>
public sealed class ToldResultTests
{
    private const int Asker = 3;
    private const ulong Sequence = 1, Version = 7, Payload = 5UL << 40;
    private readonly Answers _told = new();
    private readonly Participant _participant;
    private readonly UInt128 _session;

    public ToldResultTests()
    {
        var state = DhtWorld.Founded(4).Members[0].Host.Current!.State;
        (_participant, _session) = (new(state, _told), state.Session);
    }

    /// <summary>Whether the keys lie here by this member's hash, or elsewhere.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_result_with_a_value_is_told_by_a_later_attempt_once_its_asker_is_owed_less(bool misplaced)
    {
        Record(new(Verdict.Applied, 0, null, [1, 2]));
        _told.OwesTooMuch = true;
        for (uint attempt = 2; attempt < 5; attempt++) Ask(attempt, misplaced);
        Assert.Equal(["2 rejected: NotInitialised", "3 rejected: NotInitialised", "4 rejected: NotInitialised"], _told.All);
        _told.OwesTooMuch = false;
        Ask(5, misplaced);
        Assert.Equal("5 executed: 7, 0102", _told.All[^1]);
        Assert.Equal(4, _told.All.Count);
    }

    /// <summary>Such a result takes no more room than the refusal would.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_result_without_a_value_is_told_at_once(bool misplaced)
    {
        Record(null);
        _told.OwesTooMuch = true;
        Ask(2, misplaced);
        Assert.Equal(["2 executed: 7, "], _told.All);
    }

    private void Record(PutReport? report) =>
        _participant.Sessions.Record(_participant.Sessions.GetOrAdd(_session), new(Sequence, View: 1, Attempt: 1, Reissued: false, Payload, new([Version]), report));

    private void Ask(uint attempt, bool misplaced)
    {
        var op = _participant.Records.New();
        (op.Key, op.Payload, op.Owner, op.Kind, op.Issued, op.TellsValue) = (new(new(_session, Sequence), attempt, Payload), Payload, Asker, OperationKind.Put, true, true);
        byte[] key = DhtWorld.KeyOf("longs", 1);
        op.AddUse(_participant.Slice.EntryOf(key, KeyIdentity.PlaceOf(key)), new(KeyEffect.Merge));
        if (misplaced) _participant.Refuse(op, Asker, op.UseCount, RejectReason.Misplaced);
        else _participant.Propose(op, Asker, 0, 0);
    }

    private sealed class Answers : IAnswers
    {
        public List<string> All { get; } = [];

        public bool OwesTooMuch { get; set; }

        bool IAnswers.OwesTooMuch(int rank) => OwesTooMuch && rank == Asker;

        public void Executed(int to, in AttemptId op, int owner, int parts, in Outcome outcome) =>
            All.Add($"{op.Attempt} executed: {string.Join(' ', outcome.Versions.Take(parts))}, {Convert.ToHexString(outcome.Report?.Value ?? [])}");

        public void Rejected(int to, in AttemptId op, int owner, RejectReason reason) => All.Add($"{op.Attempt} rejected: {reason}");

        public void Proposed(int to, ParticipantRecord op, bool quiescent, bool result) => All.Add($"{op.Key.Attempt} proposed");

        public void Quiescent(int to, ParticipantRecord op, bool early) => All.Add($"{op.Key.Attempt} quiescent");

        public void Stable(int to, in AttemptId op, int owner) => All.Add($"{op.Attempt} stable");

        public void NotHeld(int to, in AttemptId op, int owner, bool askedWithTime) => All.Add($"{op.Attempt} not held");

        public void Value(ReadWait wait) => All.Add("value");
    }
}
