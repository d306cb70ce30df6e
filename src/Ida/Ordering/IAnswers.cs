using Ida.Shared;

namespace Ida.Ordering;

/// <summary>What a participant tells the coordinators of attempts, and the members whose reads waited. The coordinator may be in this process.</summary>
internal interface IAnswers
{
    /// <summary>Whether so many answers to a member wait for room that no more of its questions are taken.</summary>
    bool OwesTooMuch(int rank);

    /// <summary>The attempt is held at its proposed time.</summary>
    void Proposed(int to, ParticipantRecord op, bool quiescent, bool result);

    /// <summary>The attempt is executed, and all before it is stable; if an Ordered read is told <paramref name="early"/>, what is before it need not be stable.</summary>
    void Quiescent(int to, ParticipantRecord op, bool early);

    /// <summary>Every participant has executed the attempt and all before it.</summary>
    void Stable(int to, in AttemptId op, int owner);

    /// <summary>The put was executed, by whichever attempt; with <paramref name="parts"/> parts of its outcome, 0 if that is not known.</summary>
    void Executed(int to, in AttemptId op, int owner, int parts, in Outcome outcome);

    /// <summary>The attempt will never be held here.</summary>
    void Rejected(int to, in AttemptId op, int owner, RejectReason reason);

    /// <summary>Nothing is held; <paramref name="askedWithTime"/> repeats whether the asker knew the time.</summary>
    void NotHeld(int to, in AttemptId op, int owner, bool askedWithTime);

    /// <summary>Answers a read that waited.</summary>
    void Value(ReadWait wait);
}
