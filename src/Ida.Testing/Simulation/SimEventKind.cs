namespace Ida.Testing;

internal enum SimEventKind : byte
{
    /// <summary>A node takes a turn.</summary>
    Turn,

    /// <summary>A timer of a node may be due.</summary>
    Timer,

    /// <summary>The next write of a link end reaches the other end.</summary>
    Arrive,

    /// <summary>A dial reaches the address.</summary>
    DialArrive,

    /// <summary>The dialled node accepted; the news reaches the dialler.</summary>
    DialUp,

    /// <summary>The dialled host answered that nobody listens.</summary>
    DialRefused,

    /// <summary>Another node than the one meant answered.</summary>
    DialReplaced,

    /// <summary>The dialled node has forgotten the link.</summary>
    DialRejected,

    /// <summary>A dial got no answer.</summary>
    DialTimeout,

    /// <summary>Time to dial again.</summary>
    Redial,

    /// <summary>The news that the connection is gone reaches an end.</summary>
    Reset,

    /// <summary>A scheduled action of the test.</summary>
    Action,

    /// <summary>A continuation of the test's asynchronous code.</summary>
    Continuation,
}
