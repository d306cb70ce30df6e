using System.Globalization;
using System.Text;

namespace Ida.Testing.Checking;

/// <summary>What a checker found, and how much evidence it had: a history without completed reads proves little.</summary>
public sealed class CheckReport
{
    private readonly int[] _counts = new int[Enum.GetValues<AnomalyKind>().Length];
    private readonly List<Anomaly> _anomalies = [];
    private readonly int _mostPerKind;

    internal CheckReport(int mostPerKind) => _mostPerKind = Math.Max(0, mostPerKind);

    /// <summary>Whether nothing was found, reported or not.</summary>
    public bool Passed => !_counts.AsSpan().ContainsAnyExcept(0);

    /// <summary>Findings, at most as many of each kind as the options say.</summary>
    public IReadOnlyList<Anomaly> Anomalies => _anomalies;

    /// <summary>Operations that were judged: completed ones, and unknown ones whose effect was seen.</summary>
    public int Judged { get; internal set; }

    /// <summary>Values that completed reads returned.</summary>
    public int ReadValues { get; internal set; }

    /// <summary>Operations whose outcome is unknown.</summary>
    public int Unknown { get; internal set; }

    /// <summary>Dependencies between judged operations, without real-time order.</summary>
    public int Dependencies { get; internal set; }

    /// <summary>How many findings of a kind there were, reported or not.</summary>
    public int Count(AnomalyKind kind) => _counts[(int)kind];

    /// <summary>Throws when something was found.</summary>
    /// <exception cref="ConsistencyViolationException">Not passed.</exception>
    public void ThrowIfFailed()
    {
        if (!Passed) throw new ConsistencyViolationException(ToString());
    }

    /// <summary>The verdict with all findings.</summary>
    public override string ToString()
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"{(Passed ? "passed" : "FAILED")}: {Judged} operations judged, {ReadValues} values read, ");
        text.Append(CultureInfo.InvariantCulture, $"{Dependencies} dependencies, {Unknown} of unknown outcome");
        foreach (var anomaly in _anomalies) text.Append('\n').Append(anomaly);
        for (int kind = 0; kind < _counts.Length; kind++)
            if (_counts[kind] > _mostPerKind) text.Append(CultureInfo.InvariantCulture, $"\n… {_counts[kind] - _mostPerKind} more of {(AnomalyKind)kind}");
        return text.ToString();
    }

    internal void Add(AnomalyKind kind, string? key, string message, params IReadOnlyList<HistoryOperation> operations)
    {
        if (_counts[(int)kind]++ < _mostPerKind) _anomalies.Add(new(kind, key, message, operations));
    }
}
