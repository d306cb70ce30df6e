using GroupCore.Diagnostics;

namespace Oracle;

/// <summary>Describes the condition of this copy of the Oracle for a human reader.</summary>
internal sealed partial class OracleReplica
{
    /// <summary>Inside a turn.</summary>
    public void Describe(Description text)
    {
        text.Open($"copy of the log: {Log.Role.GetType().Name} in term {Log.Term}, {(Log.IsVoter ? "a voter" : "no voter")}, last entry {Log.Entries.LastIndex}, committed {Log.Commit}, applied {Log.Applied}, saved to {Log.Saved.Index}");
        text.Line($"{Log.Entries.Configuration}");
        text.Line($"state: {State.Processes.Count} processes, {State.Groups.Count} groups, {State.Bytes} bytes");
        if (Log.Leading is not null) Services.Describe(text);
        text.Close();
    }
}
