namespace Ida.ViewChange;

/// <summary>What a view change means for the DHT.</summary>
internal enum DecisionKind
{
    /// <summary>No member has enabled it, or too few to found it.</summary>
    Waiting,

    /// <summary>It serves from this view on, or goes on serving.</summary>
    Serving,

    /// <summary>A shard has no initialised member left.</summary>
    Depopulated,
}
