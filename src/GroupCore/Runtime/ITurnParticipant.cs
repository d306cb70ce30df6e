namespace GroupCore.Runtime;

/// <summary>A protocol with something to say when a turn ends: batches, acknowledgements, order records.</summary>
internal interface ITurnParticipant
{
    /// <summary>Called once per turn after all events; what is sent here still leaves with this turn.</summary>
    void EndOfTurn();
}
