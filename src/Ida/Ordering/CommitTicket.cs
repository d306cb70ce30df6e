namespace Ida.Ordering;

/// <summary>A commit on its way to the other participants.</summary>
internal sealed class CommitTicket
{
    /// <summary>Number of participants that have not acknowledged the commit.</summary>
    public int Missing;

    /// <summary>Where the commit was sent, and its number among the commits sent there.</summary>
    public readonly List<(int Rank, long Index)> Places = [];

    /// <summary>The record at this member, when it is a participant itself.</summary>
    public ParticipantRecord? Local;
    public int LocalGeneration;
}
