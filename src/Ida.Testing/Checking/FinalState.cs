namespace Ida.Testing.Checking;

/// <summary>The whole state of one initialised replica after all clients stopped.</summary>
/// <param name="Member">The replica.</param>
/// <param name="State">Each key it holds with its value.</param>
public sealed record FinalState(string Member, IReadOnlyDictionary<string, HistoryValue> State)
{
    /// <summary>The version of each key; null when they were not recorded.</summary>
    public IReadOnlyDictionary<string, long>? Versions { get; init; }

    /// <summary>The shard it holds; null when it is not known. Replicas of one shard must hold the same keys, even if one of them holds none at all.</summary>
    public int? Shard { get; init; }
}
