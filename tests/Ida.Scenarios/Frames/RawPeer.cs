using System.Net.Sockets;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// A peer that dials a node and speaks the protocol of links with it, byte by byte: a true handshake, true offsets, and any frames in
/// between. It reads what comes, so that the other end is not held up. Blocking; for one thread.
/// </summary>
internal sealed class RawPeer : IDisposable
{
    public const int MostBytes = 60 << 10;
    private const int Patience = 60_000;
    private const int MostAnswer = 1 << 10;
    private readonly string _cluster;
    private readonly string _listen;
    private ulong _token;
    private readonly byte[] _out = new byte[MostBytes + SegmentFrame.Size];
    private readonly Action<FrameHeader, byte[]>? _onFrame;
    private byte[] _in = new byte[256 << 10];
    private Socket? _socket;
    private ulong _peerToken;
    private ulong _expected;
    private long _received;
    private int _used;
    private int _held;

    public RawPeer(string cluster, ulong id, string listen, ulong token, Action<FrameHeader, byte[]>? onFrame = null, ulong peerToken = 0) =>
        (_cluster, Id, _listen, _token, _onFrame, _peerToken) = (cluster, id, listen, token, onFrame, peerToken);

    public ulong Id { get; }

    /// <summary>The number that makes its id together with its identity; 0 without credentials.</summary>
    public ulong Start { get; init; }

    /// <summary>What its connections go through; null if they go to nodes directly.</summary>
    public TlsTunnel? Tunnel { get; init; }

    /// <summary>Whether it reads nothing but answers to its hello, and so acknowledges nothing.</summary>
    public bool IsDeaf { get; set; }

    /// <summary>Whether the connection stands, as far as it was read.</summary>
    public bool IsUp { get; private set; }

    /// <summary>Bytes of frames written, and how many of them the other end has acknowledged.</summary>
    public long Sent { get; private set; }

    public long Acknowledged { get; private set; }

    /// <summary>How often a connection was ended by the other end.</summary>
    public int Ended { get; private set; }

    /// <summary>Why the last dial had no answer that can be read; empty before.</summary>
    public string Error { get; private set; } = "";

    /// <summary>Dials, or dials again and resumes. What the other end answers; null when it does not, or something else (<see cref="Error"/>).</summary>
    public HelloStatus? Connect(NodeAddress address, ulong expected = 0)
    {
        try
        {
            return Dial(address, expected);
        }
        catch (Exception error) when (error is SocketException or EndOfStreamException or InvalidDataException)
        {
            Error = error.Message;
            return null;
        }
    }

    /// <summary>The other end does not know the session any more: the next one has another name.</summary>
    public void BeginAnew() => (_token, _peerToken, _received, Sent, Acknowledged) = (_token + 2, 0, 0, 0, 0);

    /// <summary>Writes bytes as they are, outside of any segment.</summary>
    public void WriteRaw(ReadOnlySpan<byte> bytes)
    {
        if (IsUp) Push(bytes);
    }

    /// <summary>Adds frames to the segment being gathered, which is written when it is full.</summary>
    public void Write(ReadOnlySpan<byte> frame)
    {
        if (_held + frame.Length > MostBytes) Flush();
        if (!IsUp) return;
        if (frame.Length > MostBytes)
        {
            Segment(Sent, _received, _out);
            Push(_out.AsSpan(0, SegmentFrame.Size));
            Push(frame);
            Sent += frame.Length;
            return;
        }
        frame.CopyTo(_out.AsSpan(SegmentFrame.Size + _held));
        _held += frame.Length;
    }

    /// <summary>Writes what was gathered, and reads what has come.</summary>
    public void Flush()
    {
        if (_held > 0 && IsUp)
        {
            Segment(Sent, _received, _out);
            Push(_out.AsSpan(0, SegmentFrame.Size + _held));
            Sent += _held;
        }
        _held = 0;
        Drain(wait: false);
    }

    /// <summary>Waits until the other end has received all or has ended the connection; false when it does neither.</summary>
    public bool Settle()
    {
        Flush();
        while (IsUp && Acknowledged < Sent)
            if (!Drain(wait: true)) return false;
        return true;
    }

    /// <summary>Waits for the other end to end the connection; false when it does not in time.</summary>
    public bool WaitForEnd(long milliseconds) => Wait(() => !IsUp, milliseconds);

    /// <summary>Reads until something holds or the connection ends; whether it holds.</summary>
    public bool Wait(Func<bool> condition, long milliseconds)
    {
        for (long end = Environment.TickCount64 + milliseconds; IsUp && !condition() && Environment.TickCount64 < end;)
            if (_socket!.Poll(10_000, SelectMode.SelectRead)) Drain(wait: true);
        return condition();
    }

    public void Dispose()
    {
        _socket?.Dispose();
        Tunnel?.Dispose();
    }

    private HelloStatus Dial(NodeAddress address, ulong expected)
    {
        _socket?.Dispose();
        _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = Patience, SendTimeout = Patience };
        _socket.Connect(EndPointText.Parse((Tunnel?.To(address) ?? address).Text, nameof(address)));
        _used = _held = 0;
        if (_expected == 0 && (_expected = expected) == 0)
        {
            var identified = Greet();
            if (identified.Status != HelloStatus.Identified) return identified.Status;
            _expected = identified.NodeId;
        }
        var ack = Greet();
        IsUp = ack.Status == HelloStatus.Accepted;
        if (!IsUp) return ack.Status;
        _peerToken = ack.Token;
        // What was written and not received is given up: the next frame comes right behind what was received.
        Sent = Acknowledged = ack.Received;
        return ack.Status;
    }

    private static void Segment(long offset, long received, Span<byte> to) => new SegmentFrame(offset, received, false).Write(to);

    private HelloAckFrame Greet()
    {
        _socket!.Send(new HelloFrame(_cluster, HelloFrame.Version, HelloFrame.Version, false, Id, _expected, _token, _peerToken, _received, _listen, Start).ToFrame());
        var head = new byte[FrameHeader.Size];
        Fill(head);
        if (!FrameHeader.TryRead(head, out var header) || header.Type != FrameType.HelloAck || header.BodyLength is < 0 or > MostAnswer)
            throw new InvalidDataException($"a frame of type {header.Type} and {header.BodyLength} bytes instead of an answer");
        var body = new byte[header.BodyLength];
        Fill(body);
        return HelloAckFrame.TryRead(body, out var ack) ? ack : throw new InvalidDataException($"an answer that cannot be read: {Convert.ToHexString(body)}");
    }

    private void Fill(Span<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            int count = _socket!.Receive(bytes);
            if (count == 0) throw new EndOfStreamException();
            bytes = bytes[count..];
        }
    }

    private void Push(ReadOnlySpan<byte> bytes)
    {
        try
        {
            while (bytes.Length > 0) bytes = bytes[_socket!.Send(bytes)..];
        }
        catch (SocketException)
        {
            Down();
        }
    }

    // False when nothing came though it was waited for.
    private bool Drain(bool wait)
    {
        if (IsDeaf) return false;
        try
        {
            while (IsUp && (wait || _socket!.Available > 0))
            {
                if (_used == _in.Length) Array.Resize(ref _in, _in.Length * 2);
                int count = _socket!.Receive(_in.AsSpan(_used));
                if (count == 0) Down();
                _used += count;
                Parse();
                wait = false;
            }
        }
        catch (SocketException error) when (error.SocketErrorCode is SocketError.TimedOut or SocketError.WouldBlock)
        {
            return false;
        }
        catch (SocketException)
        {
            Down();
        }
        return true;
    }

    private void Down()
    {
        if (IsUp) Ended++;
        IsUp = false;
        _held = 0;
    }

    private void Parse()
    {
        int at = 0;
        while (FrameHeader.TryRead(_in.AsSpan(at, _used - at), out var header) && _used - at >= header.FrameLength)
        {
            var body = _in.AsSpan(at + FrameHeader.Size, header.BodyLength);
            at += (int)header.FrameLength;
            if (header.Type == FrameType.Segment)
            {
                if (SegmentFrame.TryRead(header, body, out var segment)) Acknowledged = Math.Max(Acknowledged, segment.Received);
                continue;
            }
            _received += header.FrameLength;
            _onFrame?.Invoke(header, body.ToArray());
        }
        _in.AsSpan(at, _used - at).CopyTo(_in);
        _used -= at;
    }
}
