namespace Ida.Scenarios;

/// <summary>What the program of a process is about.</summary>
internal enum LifeStage
{
    /// <summary>It starts its node.</summary>
    Starts,

    /// <summary>It joins the group.</summary>
    Joins,

    /// <summary>It enables the DHT.</summary>
    Enables,

    /// <summary>It has its place.</summary>
    Serves,

    /// <summary>It gives that up.</summary>
    Leaves,

    /// <summary>It is to be started again.</summary>
    Rests,
}
