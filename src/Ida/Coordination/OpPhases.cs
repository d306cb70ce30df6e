namespace Ida.Coordination;

/// <summary>The steps of a caller's operation from phase to phase; no others are possible.</summary>
internal static class OpPhases
{
    private static readonly ushort[] s_after =
    [
        /* Free */ Bit(OpPhase.Building),
        /* Building */ (ushort)(Bit(OpPhase.Queued) | Bit(OpPhase.Free)),
        /* Queued */ (ushort)(Bit(OpPhase.Free) | Bit(OpPhase.Waiting) | Bit(OpPhase.Following) | Bit(OpPhase.Admitted) | Bit(OpPhase.Finished)),
        /* Waiting */ (ushort)(Bit(OpPhase.Admitted) | Bit(OpPhase.Finished)),
        /* Following */ Bit(OpPhase.Finished),
        /* Admitted */ (ushort)(Bit(OpPhase.Sent) | Bit(OpPhase.Finished)),
        /* Sent */ (ushort)(Bit(OpPhase.Detached) | Bit(OpPhase.Finished)),
        /* Detached */ Bit(OpPhase.Finished),
        /* Finished */ Bit(OpPhase.Free),
    ];

    public static bool MayFollow(OpPhase from, OpPhase to) => (s_after[(int)from] & Bit(to)) != 0;

    private static ushort Bit(OpPhase phase) => (ushort)(1 << (int)phase);
}
