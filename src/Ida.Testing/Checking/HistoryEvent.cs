using System.Text.Json.Serialization;

namespace Ida.Testing.Checking;

/// <summary>One line of a history; fields that are null are not written.</summary>
public sealed record HistoryEvent
{
    /// <summary>Operation id, unique in the history; the same in its invocation and its completion.</summary>
    [JsonConverter(typeof(NameConverter))]
    public string? Op { get; init; }

    /// <summary>The client that called.</summary>
    [JsonConverter(typeof(NameConverter))]
    public string? Client { get; init; }

    /// <summary>The member the call went through.</summary>
    [JsonConverter(typeof(NameConverter))]
    public string? Member { get; init; }

    /// <summary>What the event says.</summary>
    public required HistoryEventType Type { get; init; }

    /// <summary>Nanoseconds of one monotonic clock of the machine, or virtual time.</summary>
    public required long T { get; init; }

    /// <summary>What the operation does (<see cref="HistoryFunctions"/>), or the kind of fault.</summary>
    public string? F { get; init; }

    /// <summary>The operation that this one is a part of. Both are one atomic operation, which a single record cannot express, since each record has one kind.</summary>
    [JsonConverter(typeof(NameConverter))]
    public string? PartOf { get; init; }

    /// <summary>Keys of the operation.</summary>
    public IReadOnlyList<string>? Keys { get; init; }

    /// <summary>Per key: written (invoke) or read (ok).</summary>
    public IReadOnlyList<HistoryValue>? Values { get; init; }

    /// <summary>Per key: version number of what was written or read; null where unknown.</summary>
    public IReadOnlyList<long?>? Versions { get; init; }

    /// <summary>What a transaction read.</summary>
    public IReadOnlyDictionary<string, HistoryValue>? Reads { get; init; }

    /// <summary>What a transaction writes.</summary>
    public IReadOnlyDictionary<string, HistoryValue>? Writes { get; init; }

    /// <summary>What the operation was promised; null means strict.</summary>
    public HistoryLevel? Level { get; init; }

    /// <summary>What a fault hit.</summary>
    public string? Target { get; init; }

    /// <summary>The whole state of a replica.</summary>
    public IReadOnlyDictionary<string, HistoryValue>? State { get; init; }

    /// <summary>The version of each key of a replica.</summary>
    public IReadOnlyDictionary<string, long>? StateVersions { get; init; }

    /// <summary>The shard that a replica holds.</summary>
    public int? Shard { get; init; }
}
