using System.Net;
using GroupCore.Transport.Credentials;

namespace GroupCore.Transport.Sockets;

/// <summary>
/// Stream sockets as a node loop uses them: only <see cref="Wait"/> blocks. All members but <see cref="Wake"/> are for the thread that
/// runs the node; during a <see cref="Wait"/> of the loop's thread another thread may dial, send and close, but not poll.
/// </summary>
internal interface ISocketPort : IDisposable
{
    /// <summary>Starts to listen; returns the address with the port that was chosen. Throws <see cref="AddressInUseException"/>, <see cref="IOException"/>.</summary>
    IPEndPoint Listen(IPEndPoint at);

    /// <summary>Takes connections again after <see cref="ISocketPortEvents.OnAcceptFailed"/>.</summary>
    void ResumeAccepting();

    /// <summary>
    /// Begins to connect; <see cref="ISocketPortEvents.OnDialled"/> tells the outcome. Throws <see cref="IOException"/> (<see cref="NoDescriptorException"/> if no
    /// descriptor is left) and <see cref="System.Net.Sockets.SocketException"/>.
    /// </summary>
    PortSocket Dial(IPEndPoint to);

    /// <summary>Whether a <see cref="Wait"/> that began earlier would have to end now; completions on other threads end it by themselves.</summary>
    bool HasNews { get; }

    /// <summary>Waits until something happens or <see cref="Wake"/> is called, at most <paramref name="timeout"/> nanoseconds (<see cref="long.MaxValue"/>: forever).</summary>
    void Wait(long timeout);

    /// <summary>Reports what happened, without waiting.</summary>
    void Poll(ISocketPortEvents events);

    /// <summary>Receives into <paramref name="to"/>; returns the bytes received, 0 when there are none now, −1 when the connection ended.</summary>
    int Receive(PortSocket socket, Span<byte> to);

    /// <summary>Reports no <see cref="ISocketPortEvents.OnReadable"/> of this connection until <see cref="Resume"/>: bytes that arrive wait.</summary>
    void Pause(PortSocket socket);

    /// <summary>Ends a <see cref="Pause"/>; the next poll reports <see cref="ISocketPortEvents.OnReadable"/> in any case.</summary>
    void Resume(PortSocket socket);

    /// <summary>
    /// Sends pieces of pinned arrays in order; returns the bytes taken, −1 when the connection broke. If not all are taken,
    /// <see cref="ISocketPortEvents.OnWritable"/> follows. The arrays may be reused at once.
    /// </summary>
    int Send(PortSocket socket, ReadOnlySpan<ArraySegment<byte>> pieces);

    /// <summary>Who this node shows to be; null without credentials.</summary>
    NodeIdentity? Identity => null;

    /// <summary>Whose connections are accepted, as a part of a sentence.</summary>
    string Accepts => "all processes of this machine, since it has no credentials";

    /// <summary>The address of the other end, for diagnosis; null if the system does not know it (any more).</summary>
    IPEndPoint? RemoteOf(PortSocket socket);

    /// <summary>Bytes of the buffers that the port holds for what arrived over a connection and was not received.</summary>
    int Held(PortSocket socket) => 0;

    /// <summary>Closes a connection; closing twice does nothing.</summary>
    void Close(PortSocket socket);

    /// <summary>Ends a <see cref="Wait"/>, or the next one. From any thread.</summary>
    void Wake();
}
