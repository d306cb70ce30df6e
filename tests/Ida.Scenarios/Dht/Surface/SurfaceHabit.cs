namespace Ida.Scenarios;

/// <summary>What the function of a drawn update does before it makes the new value.</summary>
internal enum SurfaceHabit
{
    /// <summary>Nothing.</summary>
    Plain,

    /// <summary>Throws.</summary>
    Throws,

    /// <summary>Makes another put come in between, and throws when it is called again.</summary>
    ThrowsAgain,

    /// <summary>Returns null.</summary>
    Removes,

    /// <summary>Takes long.</summary>
    Blocks,

    /// <summary>Calls the DHT.</summary>
    Calls,

    /// <summary>Cancels the update.</summary>
    Cancels,

    /// <summary>Makes another put come in between, once.</summary>
    Meets,

    /// <summary>Makes another put come in between whenever it is called.</summary>
    MeetsAlways,
}
