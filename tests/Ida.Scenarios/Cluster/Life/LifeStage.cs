namespace Ida.Scenarios;

/// <summary>What the program of a process is doing.</summary>
internal enum LifeStage
{
    /// <summary>It starts its node.</summary>
    Starts,

    /// <summary>It joins the group.</summary>
    Joins,

    /// <summary>It enables the DHT.</summary>
    Enables,

    /// <summary>It has its place in the DHT.</summary>
    Serves,

    /// <summary>It gives that place up.</summary>
    Leaves,

    /// <summary>It waits to be restarted.</summary>
    Rests,
}
