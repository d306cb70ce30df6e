using Oracle.State;

namespace Oracle.Tests;

/// <summary>Saved states that are there as a whole.</summary>
internal static class SavedStates
{
    /// <summary>Replaces the state; false, and nothing changed, when the bytes are not a saved one.</summary>
    public static bool TryRestore(this OracleState state, ReadOnlySpan<byte> bytes)
    {
        var restore = state.BeginRestore();
        if (!restore.TryRead(bytes, all: true)) return false;
        restore.Finish();
        return true;
    }
}
