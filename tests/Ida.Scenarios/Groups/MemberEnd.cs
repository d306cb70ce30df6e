using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>
/// When a membership ended, as whoever judges it was told, and from when on no handler of it may begin any more: at once where it has left and was told so, and a moment later where it was
/// excluded (views-and-flush.md#when-things-fail), of which its group may hear after its node, and a completion late.
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

    /// <summary>It is over for whoever judges it, and how it ends is another's matter: its process has crashed, or is about to.</summary>
    public void Crashed() => HasEnded = true;

    private void End(TimeSpan silentFrom)
    {
        HasEnded = true;
        // The first that counts.
        if (_silentFrom == TimeSpan.MaxValue) _silentFrom = silentFrom;
    }
}
