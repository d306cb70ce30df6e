namespace Ida.Coordination;

/// <summary>The steps of a caller's operation from phase to phase; no others are possible.</summary>
internal static class OperationPhases
{
    private static readonly ushort[] s_after =
    [
        /* Free */ Bit(OperationPhase.Building),
        /* Building */ (ushort)(Bit(OperationPhase.Queued) | Bit(OperationPhase.Free)),
        /* Queued */ (ushort)(Bit(OperationPhase.Free) | Bit(OperationPhase.Waiting) | Bit(OperationPhase.Following) | Bit(OperationPhase.Admitted) | Bit(OperationPhase.Finished)),
        /* Waiting */ (ushort)(Bit(OperationPhase.Admitted) | Bit(OperationPhase.Finished)),
        /* Following */ Bit(OperationPhase.Finished),
        /* Admitted */ (ushort)(Bit(OperationPhase.Sent) | Bit(OperationPhase.Finished)),
        /* Sent */ (ushort)(Bit(OperationPhase.Detached) | Bit(OperationPhase.Finished)),
        /* Detached */ Bit(OperationPhase.Finished),
        /* Finished */ Bit(OperationPhase.Free),
    ];

    public static bool MayFollow(OperationPhase from, OperationPhase to) => (s_after[(int)from] & Bit(to)) != 0;

    private static ushort Bit(OperationPhase phase) => (ushort)(1 << (int)phase);
}
