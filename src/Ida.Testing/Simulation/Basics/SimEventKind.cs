namespace Ida.Testing;

internal enum SimEventKind : byte
{
    /// <summary>A node takes a turn.</summary>
    Turn,

    /// <summary>A timer of a node may be due.</summary>
    Timer,

    /// <summary>A write of a link end reaches the other end.</summary>
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

    /// <summary>A probe reaches the address.</summary>
    ProbeArrive,

    /// <summary>Its answer reaches the prober.</summary>
    ProbeAnswer,

    /// <summary>A probe got no answer.</summary>
    ProbeTimeout,

    /// <summary>An acknowledgement or a repetition of a link may be due.</summary>
    LinkTimer,

    /// <summary>A scheduled action of the test.</summary>
    Action,

    /// <summary>A continuation of the test's asynchronous code.</summary>
    Continuation,

    /// <summary>It is known who dialled in.</summary>
    Settled,

    /// <summary>It is known what the other end of a connection has read.</summary>
    Room,

    /// <summary>A socket that took a part of a write takes more.</summary>
    Writable,

    /// <summary>A kernel gives up asking whether the other end of a connection is there, unless it is.</summary>
    Unanswered,
}
