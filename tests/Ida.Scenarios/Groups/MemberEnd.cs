using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>
/// When a membership ended, as its judge was told, and from when on none of its handlers may begin. If it has left and was told so, that is at once. If it was excluded
/// (views-and-flush.md#when-things-fail), it is a moment later, since its group may hear of that after its node, and by a completion.
/// </summary>
internal sealed class MemberEnd(Simulation simulation)
{
    private static readonly TimeSpan s_late = TimeSpan.FromSeconds(1);
    private TimeSpan _silentFrom = TimeSpan.MaxValue;

    /// <summary>Nothing that its handlers do is to be counted any more.</summary>
    public bool HasEnded { get; private set; }

    /// <summary>Whether a handler that begins now acts after the end.</summary>
    public bool IsTooLate => HasEnded && simulation.Now >= _silentFrom;

    /// <summary>It has left, and was told so.</summary>
    public void Left() => End(simulation.Now);

    /// <summary>It was excluded, or gave itself up.</summary>
    public void Excluded() => End(simulation.Now + s_late + (2 * simulation.Options.MaxCompletionDelay));

    /// <summary>Its process has crashed, or is about to: it no longer counts, and a handler that still begins is no violation.</summary>
    public void Crashed() => HasEnded = true;

    private void End(TimeSpan silentFrom)
    {
        HasEnded = true;
        // The first end counts.
        if (_silentFrom == TimeSpan.MaxValue) _silentFrom = silentFrom;
    }
}
