namespace Ida.Ordering;

/// <summary>A commit on its way to the other participants.</summary>
internal sealed class CommitTicket
{
    /// <summary>Participants that have not acknowledged it.</summary>
    public int Missing;

    /// <summary>Where it went, and which commit it was on that channel.</summary>
    public readonly List<(int Rank, long Index)> Places = [];

    /// <summary>The record at this member, when it is a participant itself.</summary>
    public OpRecord? Local;
    public int LocalGeneration;
}
