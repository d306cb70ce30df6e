namespace Ida.Boundary;

/// <summary>What a view boundary means for the DHT.</summary>
internal enum DecisionKind
{
    /// <summary>No member has enabled it, or too few to found it.</summary>
    Waiting,

    /// <summary>It serves from this view on, or goes on serving.</summary>
    Serving,

    /// <summary>A shard has no full member left.</summary>
    Depopulated,
}
