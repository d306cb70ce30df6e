using Ida.Testing.Calls;

namespace Ida.Testing.Workload;

/// <summary>What the clients of a checked run do: few hot keys, several of them at a time, over several shards.</summary>
public sealed record HistoryWorkload
{
    /// <summary>Map of the append keys.</summary>
    public const string Lists = "lists";

    /// <summary>Map of the put keys.</summary>
    public const string Values = "values";

    /// <summary>Append keys in use at a time. Default 8.</summary>
    public int ListKeys { get; init; } = 8;

    /// <summary>Put keys. Default 8.</summary>
    public int ValueKeys { get; init; } = 8;

    /// <summary>Most keys of one operation. Default 3.</summary>
    public int MaxKeys { get; init; } = 3;

    /// <summary>Elements after which an append key is left for a fresh one. Default 50.</summary>
    public int ElementsPerList { get; init; } = 50;

    /// <summary>Share of reads. Default one half.</summary>
    public double Reads { get; init; } = 0.5;

    /// <summary>Level of all operations. Default <see cref="ConsistencyLevel.Strict"/>.</summary>
    public ConsistencyLevel Level { get; init; } = ConsistencyLevel.Strict;

    /// <summary>Share of the writes that remove keys, alone or together with puts. Default none.</summary>
    public double Removes { get; init; }

    /// <summary>Share of the writes of values that are puts of one key on the condition that it has the version that the client saw last. Default none.</summary>
    public double Conditions { get; init; }

    /// <summary>Share of the writes that are one batch over both maps. Default none.</summary>
    public double Batches { get; init; }

    /// <summary>Share of the calls that are cancelled: before they are made, or within 10 ms. Default none.</summary>
    public double Cancelled { get; init; }

    /// <summary>Share of the calls whose time is up after 1 to 20 ms. Default none.</summary>
    public double Hurried { get; init; }

    /// <summary>How often a write of unknown outcome is asked for again under its operation id, before it is recorded as unknown. Default never.</summary>
    public int Retries { get; init; }

    /// <summary>
    /// Longest filling of a value, in characters: one put in ten has values of up to that length, drawn evenly over orders of magnitude, and
    /// all of one put together at most <see cref="LargestWrite"/>. The history has the marks of the values only. Default 0.
    /// </summary>
    public int LargestValue { get; init; }

    /// <summary>Filling of all values of one put together, in characters. Default 800,000.</summary>
    public int LargestWrite { get; init; } = 800_000;

    /// <summary>Called with the name of each unusual thing that a client does, to count how often it was done; on any thread.</summary>
    public Action<string>? Drew { get; init; }

    /// <summary>How long an operation may take before its outcome counts as unknown. Default 10 s.</summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// How much longer than its time a call may take: a client whose call is open for twice as much beyond its time ends with <see cref="TimeoutException"/>. Null: that is not
    /// checked.
    /// </summary>
    public TimeSpan? Overtime { get; init; }

    /// <summary>Keeps the clients' calls; null: they are not kept.</summary>
    internal CallLedger? Calls { get; init; }

    /// <summary>What all clients of a DHT know of versions, so that what one is told of a version judges what another has read; null: each knows only what it saw last.</summary>
    internal VersionBook? Versions { get; init; }

    /// <summary>How long a client waits between operations. Default none.</summary>
    public TimeSpan Pause { get; init; }

    /// <summary>The time that <see cref="Pause"/> and the cancellations go by; in a simulation <see cref="Simulation.TimeProvider"/>. Default the machine's.</summary>
    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>Declares the maps of the workload; for <c>EnableDhtAsync</c>.</summary>
    public static void Declare(DhtMaps maps)
    {
        ArgumentNullException.ThrowIfNull(maps);
        maps.Map<string, List<string>>(Lists).OnMerge<string>(static (_, stored, element) => [.. stored ?? [], element]);
        maps.Map<string, string>(Values);
    }
}
