using GroupCore.Basics;
using GroupCore.Transport.Secure;
using GroupCore.Transport.Sockets;

namespace GroupCore.Hosting;

/// <summary>The sockets of a node, with TLS over them if it has credentials, and the id that belongs to these.</summary>
internal static class NodePort
{
    /// <summary>Whether the sockets are driven by epoll.</summary>
    public static bool UsesEpoll(SocketPortKind kind) => OperatingSystem.IsLinux() && kind != SocketPortKind.Completion;

    public static ISocketPort Open(NodeLoopOptions options)
    {
        bool epoll = UsesEpoll(options.Port);
        ISocketPort port = epoll && OperatingSystem.IsLinux() ? new EpollPort() : new CompletionPort();
        if (options.Credentials is not { } credentials) return port;
        try
        {
            Handshake.Try();
            var handshakes = new HandshakeThread(options.StartThread, $"Ida {options.Cluster} handshakes", portable: !epoll);
            return new SecurePort(port, credentials, options.Cluster, handshakes);
        }
        catch
        {
            port.Dispose();
            throw;
        }
    }

    /// <summary>The id of a node that starts: with credentials the one that its identity and this number make, which others can check.</summary>
    public static ulong IdOf(ISocketPort port, ulong start) => port.Identity is { } identity ? identity.IdOf(start) : Entropy.Next() | 1;
}
