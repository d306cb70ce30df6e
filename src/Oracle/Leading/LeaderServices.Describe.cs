using GroupCore.Diagnostics;

namespace Oracle.Leading;

/// <summary>Describes for a human reader what the leader holds beside the log.</summary>
internal sealed partial class LeaderServices
{
    /// <summary>Inside a turn.</summary>
    public void Describe(Description text)
    {
        text.Line($"leading: {(Active ? "it decides" : Knowing ? "it waits until earlier leases count as held" : "it waits for an entry of its own term")}; {_leases.Count} leases, {_batcher.Waiting} requests wait, {_excluding.Count} exclusions are decided and not applied");
        _detector.Describe(text);
    }
}
