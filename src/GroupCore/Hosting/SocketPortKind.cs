namespace GroupCore.Hosting;

/// <summary>How a node's sockets are driven.</summary>
internal enum SocketPortKind
{
    /// <summary>Epoll on Linux, completions elsewhere.</summary>
    Auto,

    /// <summary>Readiness by epoll; Linux only.</summary>
    Epoll,

    /// <summary>Completions; every system.</summary>
    Completion,
}
