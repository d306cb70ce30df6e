using Ida.Testing;
using Ida.Testing.Calls;
using Oracle;

namespace Ida.Scenarios;

/// <summary>What a schedule of whole lives draws.</summary>
internal static class LifeNames
{
    public const string Early = "faults from the beginning", OfOne = "faults of one process", Again = "restarted after a crash", Excluded = "restarted after an exclusion", Unreached = "start given up", Rejoined = "second DHT",
        EndedAtRest = "program excluded at rest", Close = "leaves the DHT", Leave = "leaves the group", Stop = "stops its node";

    private static readonly OracleOptions s_times = new();
    private static readonly (TimeSpan Most, string Name)[] s_lengths =
    [
        (s_times.ProbeInterval * s_times.ProbeRounds, "shorter than suspicion"), (s_times.LeaseDuration + (s_times.ProbeInterval * s_times.ProbeRounds), "about suspicion and lease"),
        (s_times.IsolationTimeout, "up to isolation"), (s_times.IsolationTimeout + s_times.ExclusionTimeout, "between isolation and exclusion"), (TimeSpan.MaxValue, "longer than exclusion"),
    ];

    /// <summary>Calls that may be given up.</summary>
    public static IReadOnlyList<CallKind> Given { get; } = [CallKind.Start, CallKind.Join, CallKind.Enable, CallKind.Leave, CallKind.Close];

    /// <summary>How long faults take.</summary>
    public static IReadOnlyList<string> Lengths { get; } = [.. s_lengths.Select(static one => $"fault: {one.Name}")];

    /// <summary>What its seeds may draw.</summary>
    public static IReadOnlyList<string> Declared { get; } =
    [
        Early, OfOne, Again, Excluded, Unreached, Rejoined, Close, Leave, Stop, SmallRoom.Name, .. Lengths,
        .. Enum.GetValues<FaultKind>().Select(Of), .. Enum.GetValues<LifeStage>().Select(Of), .. Given.Select(GivenUp), .. Given.Select(GivenUpBefore), Leftovers.Judged, .. ThreadNames.Declared,
    ];

    public static string Of(FaultKind kind) => $"fault: {kind}";

    public static string Of(TimeSpan length) => $"fault: {Array.Find(s_lengths, one => length < one.Most).Name}";

    /// <summary>A call has a token that is cancelled after a time.</summary>
    public static string GivenUp(CallKind kind) => $"{kind} that may be given up";

    /// <summary>A call has a token that is cancelled already.</summary>
    public static string GivenUpBefore(CallKind kind) => $"{kind} given up before";

    /// <summary>A fault begins while a program is in this stage.</summary>
    public static string Of(LifeStage stage) => $"fault while it {stage.ToString().ToLowerInvariant()}";
}
