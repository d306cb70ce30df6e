namespace Ida.Ordering;

/// <summary>A commit on its way to the other participants.</summary>
internal sealed class CommitTicket
{
    /// <summary>Participants that have not acknowledged it.</summary>
    public int Missing;

    /// <summary>Queues it is in.</summary>
    public int Queues;

    /// <summary>The record at this member, when it is a participant itself.</summary>
    public OpRecord? Local;
    public int LocalGeneration;
}
