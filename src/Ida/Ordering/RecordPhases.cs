namespace Ida.Ordering;

/// <summary>
/// The steps of an attempt at a participant from phase to phase; no others are possible. The end of a view takes back every record, in
/// whatever phase; that is not a step.
/// </summary>
internal static class RecordPhases
{
    private static readonly byte[] s_after =
    [
        /* Free */ Bit(RecordPhase.Proposed),
        /* Proposed */ (byte)(Bit(RecordPhase.Committed) | Bit(RecordPhase.Free)),
        /* Committed */ (byte)(Bit(RecordPhase.Stable) | Bit(RecordPhase.Executed)),
        /* Stable */ Bit(RecordPhase.Finished),
        /* Executed */ Bit(RecordPhase.Finished),
        /* Finished */ (byte)(Bit(RecordPhase.Late) | Bit(RecordPhase.Free)),
        /* Late */ Bit(RecordPhase.Free),
    ];

    public static bool MayFollow(RecordPhase from, RecordPhase to) => (s_after[(int)from] & Bit(to)) != 0;

    public static bool MayFollow(QuiescencePhase from, QuiescencePhase to) => from switch
    {
        QuiescencePhase.Untold => to is not QuiescencePhase.Untold,
        QuiescencePhase.AtProposal => to is QuiescencePhase.Untold,
        QuiescencePhase.Early => to is QuiescencePhase.Quiescent,
        _ => false,
    };

    public static bool MayFollow(ResultPhase from, ResultPhase to) => from switch
    {
        ResultPhase.None => to is not ResultPhase.None,
        ResultPhase.Ahead => to is not ResultPhase.Ahead,
        _ => false,
    };

    private static byte Bit(RecordPhase phase) => (byte)(1 << (int)phase);
}
