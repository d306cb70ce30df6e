using System.Net;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>Sockets without a system: a test plays all the other ends, and between two polls nothing happens but what it says.</summary>
internal sealed class ScriptedPort : ISocketPort
{
    private readonly Queue<Action<ISocketPortEvents>> _news = new();
    private readonly List<OtherEnd> _all = [];

    /// <summary>What this node has dialled, in order.</summary>
    public List<OtherEnd> Dialled { get; } = [];

    /// <summary>What a dial throws.</summary>
    public Exception? Fault { get; set; }

    /// <summary>How many connections there may be at once.</summary>
    public int Descriptors { get; set; } = int.MaxValue;

    /// <summary>Called in the midst of a poll, after each connection that was read.</summary>
    public Action AfterRead { get; set; } = static () => { };

    /// <summary>Who this node is; null without credentials.</summary>
    public NodeIdentity? Identity { get; set; }

    public bool HasNews => _news.Count > 0 || _all.Exists(static end => end.IsReadable);

    /// <summary>Somebody connects and says this.</summary>
    public OtherEnd Come(byte[] said)
    {
        var end = new OtherEnd(null);
        _all.Add(end);
        end.Say(said);
        _news.Enqueue(events => events.OnAccepted(end));
        return end;
    }

    public void RefuseAccept(bool noDescriptor) => _news.Enqueue(events => events.OnAcceptFailed(noDescriptor));

    /// <summary>Tells the result of a dial.</summary>
    public void Tell(OtherEnd dialled, DialResult result) => _news.Enqueue(events =>
    {
        if (!dialled.IsClosed) events.OnDialled(dialled, result);
    });

    public IPEndPoint Listen(IPEndPoint at) => new(at.Address, 7);

    public void ResumeAccepting()
    {
    }

    public PortSocket Dial(IPEndPoint to)
    {
        if (Fault is { } fault) throw fault;
        if (_all.Count(static end => !end.IsClosed) >= Descriptors) throw new NoDescriptorException("none left");
        var end = new OtherEnd(EndPointText.Format(to));
        _all.Add(end);
        Dialled.Add(end);
        return end;
    }

    public void Wait(long timeout)
    {
    }

    public void Poll(ISocketPortEvents events)
    {
        while (_news.TryDequeue(out var told)) told(events);
        _all.RemoveAll(static end => end.IsClosed);
        foreach (var end in _all.ToArray())
        {
            if (!end.IsReadable || end.IsPaused) continue;
            events.OnReadable(end);
            AfterRead();
        }
    }

    public void Pause(PortSocket socket) => socket.IsPaused = true;

    public void Resume(PortSocket socket)
    {
        socket.IsPaused = false;
        _news.Enqueue(events =>
        {
            if (!socket.IsClosed) events.OnReadable(socket);
        });
    }

    public int Receive(PortSocket socket, Span<byte> to) => ((OtherEnd)socket).Take(to);

    public int Send(PortSocket socket, ReadOnlySpan<ArraySegment<byte>> pieces)
    {
        int count = 0;
        foreach (var piece in pieces)
        {
            ((OtherEnd)socket).Hear(piece);
            count += piece.Count;
        }
        return count;
    }

    public IPEndPoint? RemoteOf(PortSocket socket) => null;

    public void Close(PortSocket socket) => ((OtherEnd)socket).MarkClosed();

    public void Wake()
    {
    }

    public void Dispose()
    {
    }

    /// <summary>The other end of a connection.</summary>
    internal sealed class OtherEnd(NodeAddress? dialled) : PortSocket
    {
        private ReadOnlyMemory<byte> _said;
        private readonly List<byte> _heard = [];
        private bool _ends;

        /// <summary>Where this node dialled; null for one that came.</summary>
        public NodeAddress? Dialled => dialled;

        /// <summary>Whether it has begun to show who it is.</summary>
        public bool Speaks { get; set; } = true;

        public override bool HasSpoken => Speaks;

        /// <summary>It has shown who it is.</summary>
        public void Show(NodeIdentity identity) => Identity = identity;

        public bool IsReadable => !IsClosed && (_said.Length > 0 || _ends);

        public void Say(params ReadOnlySpan<byte[]> frames)
        {
            foreach (var frame in frames) _said = _said.IsEmpty ? frame : (byte[])[.. _said.Span, .. frame];
        }

        /// <summary>Ends the connection after what it has said.</summary>
        public void End() => _ends = true;

        /// <summary>How many bytes it was sent.</summary>
        public long Bytes => _heard.Count;

        /// <summary>The frames of a type that it was sent, in order.</summary>
        public List<byte[]> Heard(FrameType type) => [.. Frames(type).Select(static frame => frame.Body)];

        /// <summary>The numbers of the frames of data that it was sent, in order.</summary>
        public List<uint> Numbers => [.. Frames(FrameType.Data).Select(static frame => frame.Number)];

        private List<(uint Number, byte[] Body)> Frames(FrameType type)
        {
            var bytes = _heard.ToArray();
            var found = new List<(uint, byte[])>();
            for (int at = 0; FrameHeader.TryRead(bytes.AsSpan(at), out var header); at += (int)header.FrameLength)
                if (header.Type == type) found.Add((header.View, bytes.AsSpan(at + FrameHeader.Size, header.BodyLength).ToArray()));
            return found;
        }

        /// <summary>The last Hello it was sent.</summary>
        public HelloFrame Hello
        {
            get
            {
                Assert.True(HelloFrame.TryRead(Heard(FrameType.Hello)[^1], out var hello));
                return hello;
            }
        }

        /// <summary>The last answer to its Hello; null for none.</summary>
        public HelloStatus? Answer => Heard(FrameType.HelloAck) is [.., var last] && HelloAckFrame.TryRead(last, out var ack) ? ack.Status : null;

        public int Take(Span<byte> to)
        {
            if (_said.Length == 0 && _ends) return -1;
            int count = Math.Min(to.Length, _said.Length);
            _said.Span[..count].CopyTo(to);
            _said = _said[count..];
            return count;
        }

        public void Hear(ReadOnlySpan<byte> bytes) => _heard.AddRange(bytes);

        public void MarkClosed() => IsClosed = true;
    }
}
