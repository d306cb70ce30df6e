namespace Ida.Testing.Workload;

/// <summary>What the clients of a checked run do: few hot keys, several of them at a time, over several shards.</summary>
public sealed record HistoryWorkload
{
    /// <summary>Map of the append keys; <see cref="Register"/> gives it its resolver.</summary>
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

    /// <summary>How long an operation may take before its outcome counts as unknown. Default 10 s.</summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>How long a client waits between operations. Default none.</summary>
    public TimeSpan Pause { get; init; }

    /// <summary>Whose time <see cref="Pause"/> is; in a simulation <see cref="Simulation.TimeProvider"/>. Default the machine's.</summary>
    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>Registers what the workload needs; for <c>EnableDhtAsync</c>.</summary>
    public static void Register(DhtRegistry registry)
    {
        ArgumentNullException.ThrowIfNull(registry);
        registry.OnCollision<string, List<string>, string>(static (_, stored, element) => [.. stored ?? [], element]);
    }
}
