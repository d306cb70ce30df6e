namespace Ida.Coordination;

/// <summary>What becomes of a call when its attempt is over.</summary>
internal interface ICalls
{
    /// <summary>Ends a call, with a result or an error.</summary>
    void Finish(ClientOperation op, Exception? error);

    /// <summary>Ends a call of which a bound was reached, or that a participant will never hold.</summary>
    void Refuse(ClientOperation op, DhtException reason);

    /// <summary>Another attempt follows after a while.</summary>
    void RetryApart(ClientOperation op);

    /// <summary>Another attempt follows. Its number grows in steps, until it is above those that were rejected.</summary>
    void RetryAbove(ClientOperation op);

    /// <summary>Replicas were told that the outcome of the put is known: the member of its session is asked.</summary>
    void AskHowItEnded(ClientOperation op);

    /// <summary>Participants have no room for outcomes: the oldest put begins beyond the bound, if it waits for a place.</summary>
    void AdmitOldest();
}
