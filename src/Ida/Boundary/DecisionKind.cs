namespace Ida.Boundary;

/// <summary>What a view boundary means for the DHT.</summary>
internal enum DecisionKind
{
    /// <summary>Nobody has enabled it, or too few to found it.</summary>
    Waiting,

    /// <summary>It serves, from this view on or still.</summary>
    Serving,

    /// <summary>A shard has no full member left.</summary>
    Depopulated,
}
