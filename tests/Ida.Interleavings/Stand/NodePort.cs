using GroupCore.Basics;
using GroupCore.Transport.Sockets;

namespace GroupCore.Hosting;

/// <summary>Stands in for the real one: there are no sockets and no credentials here.</summary>
internal static class NodePort
{
    public static bool UsesEpoll(SocketPortKind kind) => OperatingSystem.IsLinux() && kind != SocketPortKind.Completion;

    public static ISocketPort Open(NodeLoopOptions options) => new SocketPort();

    public static ulong IdOf(ISocketPort port, ulong start) => Entropy.Next() | 1;
}
