using GroupCore.Diagnostics;

namespace Oracle.Detection;

/// <summary>Describes for a human reader which processes this one watches and suspects.</summary>
internal sealed partial class FailureDetector
{
    /// <summary>Processes watched or suspected. From any thread.</summary>
    public int Watched => _watched.Count;

    /// <summary>Inside a turn.</summary>
    public void Describe(Description text)
    {
        MonitoredProcess[] suspected = [.. _watched.Where(static watched => watched.Evidence is not null)];
        text.Line($"watches {_watched.Count(static watched => watched.Assigned)} processes, suspects {suspected.Length}{(_mute ? "; it says nothing of that, since it doubts its own clock" : "")}");
        text.List(suspected, suspected.Length, (text, watched) => text.Line(
            $"suspects {watched.Subject.Id} at {watched.Subject.Address}: {watched.Evidence}, last heard {Description.Time(node.Now - watched.HeardAt)} ago"));
    }
}
