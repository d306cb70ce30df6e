using System.Net;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Secure;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport.Secure;

/// <summary>One node's port and what it was told; reads whatever comes, unless told not to.</summary>
internal sealed class SecureEnd : ISocketPortEvents, IDisposable
{
    private readonly byte[] _buffer = new byte[1 << 16];
    private readonly ArraySegment<byte>[] _pieces = new ArraySegment<byte>[1];

    public SecureEnd(NodeCredentials credentials, string kind = "Epoll", string cluster = "c", IHandshakes? handshakes = null, long mostMade = long.MaxValue)
    {
        handshakes ??= new HandshakeThread(static thread => thread.Start(), "handshakes");
        Under = kind == "Epoll" && OperatingSystem.IsLinux() ? new EpollPort() : new CompletionPort();
        Port = new(Under, credentials, cluster, handshakes) { MostMadeBytes = mostMade };
        At = Port.Listen(new(IPAddress.Loopback, 0));
    }

    public ISocketPort Under { get; }

    public SecurePort Port { get; }

    public IPEndPoint At { get; }

    public List<PortSocket> Accepted { get; } = [];

    public List<DialResult> Dialled { get; } = [];

    public List<string> Untrusted { get; } = [];

    public List<string> Troubles { get; } = [];

    public int Reached { get; private set; }

    /// <summary>All bytes that came, of all connections.</summary>
    public MemoryStream Came { get; } = new();

    public int Ended { get; private set; }

    public bool Reads { get; set; } = true;

    /// <summary>Bytes per receive.</summary>
    public int Room { get; set; } = 1 << 16;

    /// <summary>Whether it receives once for each report.</summary>
    public bool Once { get; set; }

    public int Writable { get; private set; }

    /// <summary>Polls these ports until something holds, for a minute.</summary>
    public static void Until(Func<bool> holds, params SecureEnd[] ends)
    {
        for (long end = Environment.TickCount64 + 60_000; !holds();)
        {
            Assert.True(Environment.TickCount64 < end, "A minute passed.");
            foreach (var one in ends)
            {
                one.Port.Wait(1_000_000);
                one.Port.Poll(one);
            }
        }
    }

    public PortSocket Dial(IPEndPoint to) => Port.Dial(to);

    /// <summary>Sends all bytes, and polls both ends while it cannot go on.</summary>
    public void Send(PortSocket socket, byte[] bytes, SecureEnd other)
    {
        byte[] pinned = GC.AllocateUninitializedArray<byte>(bytes.Length, pinned: true);
        bytes.CopyTo(pinned, 0);
        for (int sent = 0; sent < pinned.Length;)
        {
            _pieces[0] = new(pinned, sent, pinned.Length - sent);
            int before = Writable, count = Port.Send(socket, _pieces);
            Assert.True(count >= 0, "The connection broke.");
            sent += count;
            if (sent < pinned.Length) Until(() => Writable > before, this, other);
        }
    }

    /// <summary>Sends once; returns how much was taken.</summary>
    public int SendOnce(PortSocket socket, byte[] pinned)
    {
        _pieces[0] = new(pinned);
        return Port.Send(socket, _pieces);
    }

    public void OnAccepted(PortSocket socket) => Accepted.Add(socket);

    public void OnAcceptFailed(bool noDescriptor) => Port.ResumeAccepting();

    public void OnDialled(PortSocket socket, DialResult result) => Dialled.Add(result);

    public void OnUntrusted(PortSocket socket, string why) => Untrusted.Add(why);

    public void OnCredentialsTrouble(string what) => Troubles.Add(what);

    public void OnReached(PortSocket socket) => Reached++;

    public void OnReadable(PortSocket socket)
    {
        while (Reads)
        {
            int count = Port.Receive(socket, _buffer.AsSpan(0, Room));
            if (count < 0)
            {
                Ended++;
                Port.Close(socket);
            }
            if (count <= 0) return;
            Came.Write(_buffer, 0, count);
            if (Once) return;
        }
        Port.Pause(socket);
    }

    public void OnWritable(PortSocket socket) => Writable++;

    public void Dispose()
    {
        Port.Dispose();
        Assert.Equal(0, Port.SlabBytes);
    }
}
