using GroupCore.Diagnostics;

namespace Oracle.Leading;

/// <summary>Describes for a human reader which processes are suspected, and by which others.</summary>
internal sealed partial class CutDetector
{
    /// <summary>Inside a turn.</summary>
    public void Describe(Description text) => text.List(_suspicions, _suspicions.Count, static (text, of) => text.Line(
        $"suspected: {of.Subject}, by {string.Join(", ", of.Suspicions.Take(Description.MostItems).Select(static by => $"{by.Key} ({by.Value.Evidence})"))}"));
}
