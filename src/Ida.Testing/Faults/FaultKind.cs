namespace Ida.Testing;

/// <summary>What goes wrong.</summary>
public enum FaultKind
{
    /// <summary>The process of a node dies; its host answers. It restarts afterwards.</summary>
    Crash,

    /// <summary>The machine of a node is gone: peers hear nothing. It restarts afterwards.</summary>
    Vanish,

    /// <summary>A node takes no turn.</summary>
    Pause,

    /// <summary>Nothing gets from one node to another; it waits.</summary>
    Cut,

    /// <summary>What one node sends to another is lost.</summary>
    Drop,

    /// <summary>Some nodes and all others do not reach each other.</summary>
    Partition,

    /// <summary>The way from one node to another takes several times as long.</summary>
    Slow,

    /// <summary>Turns of a node take several times as long.</summary>
    Busy,

    /// <summary>The connection of two nodes is reset. Takes no time.</summary>
    Break,

    /// <summary>The clock of a node runs fast (a factor above 1) or slow.</summary>
    Drift,
}
