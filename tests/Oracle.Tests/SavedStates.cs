using Oracle.State;

namespace Oracle.Tests;

/// <summary>Restores saved states that have arrived as a whole.</summary>
internal static class SavedStates
{
    /// <summary>Replaces the state. Returns false, and changes nothing, if the bytes are not a saved state.</summary>
    public static bool TryRestore(this OracleState state, ReadOnlySpan<byte> bytes)
    {
        var restore = state.BeginRestore();
        if (!restore.TryRead(bytes, all: true)) return false;
        restore.Finish();
        return true;
    }
}
