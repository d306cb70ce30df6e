using System.Collections.Concurrent;
using System.Net;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Secure;

/// <summary>
/// TLS over another port. A connection is reported as made when its handshake has succeeded at this end; one that was accepted is reported at once, and has nothing to receive before that.
/// Handshakes run beside the loop (<see cref="IHandshakes"/>); afterwards the loop encrypts and decrypts in its turns, each call of which completes at once (<see cref="RecordStream"/>).
/// </summary>
/// <remarks>
/// A record per gathered write, of at most 16,000 bytes, and up to four of them in one write below: a record costs 1.7 µs and its bytes 0.55 ns each. What the port below does not take of
/// records that were made waits here, since they cannot be made again; it is at most 64 KiB a connection, and the user's next bytes wait for it. A connection ends, and the
/// user makes another, before its key has protected more bytes than is safe (RFC 8446, 5.5).
/// Source: links.md#handshakes-run-beside-the-loop-records-in-it.
/// </remarks>
internal sealed partial class SecurePort : ISocketPort, ISocketPortEvents
{
    // What a read that waits for its record holds inside SslStream.
    private const int ReadBytes = 32 << 10;
    private readonly ISocketPort _under;
    private readonly NodeCredentials _credentials;
    private readonly string _cluster;
    private readonly IHandshakes _handshakes;
    private readonly Action<Handshake> _told;
    private readonly SlabPool _pool = new();
    private readonly ConcurrentQueue<Handshake> _news = new();
    private readonly List<SecureSocket> _open = [];
    private readonly List<SecureSocket> _readable = [];
    private ISocketPortEvents _events = null!;
    private long _polls;

    public SecurePort(ISocketPort under, NodeCredentials credentials, string cluster, IHandshakes handshakes)
    {
        (_under, _credentials, _cluster, _handshakes) = (under, credentials, cluster, handshakes);
        _told = handshake =>
        {
            _news.Enqueue(handshake);
            _under.Wake();
        };
    }

    /// <summary>Bytes of the slabs that connections hold; for checks.</summary>
    public long SlabBytes => _pool.RentedBytes;

    /// <inheritdoc/>
    public NodeIdentity? Identity => _credentials.Identity;

    /// <inheritdoc/>
    public string Accepts => _credentials.Accepts;

    /// <inheritdoc/>
    public bool HasNews => _under.HasNews || _readable.Count > 0 || !_news.IsEmpty;

    public IPEndPoint Listen(IPEndPoint at) => _under.Listen(at);

    public void ResumeAccepting() => _under.ResumeAccepting();

    public IPEndPoint? RemoteOf(PortSocket socket) => _under.RemoteOf(((SecureSocket)socket).Under);

    public int Held(PortSocket socket) => socket is SecureSocket held ? held.Input.Room + held.Plain.Room + held.Unsent.Room + (held.Reading is null ? 0 : ReadBytes) : 0;

    public PortSocket Dial(IPEndPoint to) => Add(_under.Dial(to), dials: true);

    public void Wait(long timeout)
    {
        if (!HasNews) _under.Wait(timeout);
    }

    public void Wake() => _under.Wake();

    public void Poll(ISocketPortEvents events)
    {
        _events = events;
        _polls++;
        _under.Poll(this);
        for (int left = _news.Count; left > 0 && _news.TryDequeue(out var handshake); left--) GoOn(handshake);
        int listed = _readable.Count;
        for (int i = 0; i < listed; i++)
        {
            var socket = _readable[i];
            socket.IsListed = false;
            if (socket is { IsClosed: false, IsPaused: false }) Readable(socket);
        }
        _readable.RemoveRange(0, listed);
    }

    public void Pause(PortSocket socket)
    {
        socket.IsPaused = true;
        _under.Pause(((SecureSocket)socket).Under);
    }

    public void Resume(PortSocket socket)
    {
        var resumed = (SecureSocket)socket;
        resumed.IsPaused = false;
        if (resumed.IsClosed) return;
        _under.Resume(resumed.Under);
        List(resumed);
    }

    public void Close(PortSocket socket)
    {
        var closed = (SecureSocket)socket;
        if (closed.IsClosed) return;
        _under.Close(closed.Under);
        LetGo(closed);
    }

    public void Dispose()
    {
        // The connections below are closed in the way of that port.
        _under.Dispose();
        while (_open.Count > 0) LetGo(_open[^1]);
        _handshakes.Dispose();
    }

    void ISocketPortEvents.OnAccepted(PortSocket under)
    {
        var socket = Add(under, dials: false);
        _events.OnAccepted(socket);
        if (!socket.IsClosed) Begin(socket);
    }

    void ISocketPortEvents.OnAcceptFailed(bool noDescriptor) => _events.OnAcceptFailed(noDescriptor);

    void ISocketPortEvents.OnDialled(PortSocket under, DialResult result)
    {
        var socket = (SecureSocket)under.Owner!;
        if (socket.IsClosed) return;
        if (result == DialResult.Connected)
        {
            _events.OnReached(socket);
            if (!socket.IsClosed) Begin(socket);
            return;
        }
        LetGo(socket);
        _events.OnDialled(socket, result);
    }

    void ISocketPortEvents.OnReadable(PortSocket under)
    {
        var socket = (SecureSocket)under.Owner!;
        if (!socket.IsClosed) Readable(socket);
    }

    void ISocketPortEvents.OnWritable(PortSocket under)
    {
        var socket = (SecureSocket)under.Owner!;
        if (socket.IsClosed) return;
        if (!TrySendLeft(socket))
        {
            End(socket);
        }
        else if (socket is { IsBlocked: true, Unsent.Count: 0 })
        {
            socket.IsBlocked = false;
            _events.OnWritable(socket);
        }
    }

    private SecureSocket Add(PortSocket under, bool dials)
    {
        var socket = new SecureSocket(under, dials) { Place = _open.Count };
        _open.Add(socket);
        under.Owner = socket;
        return socket;
    }

    private void LetGo(SecureSocket closed)
    {
        closed.MarkClosed();
        if (closed.Tls is { } tls)
        {
            closed.Records.End();
            tls.Dispose();
            // A read that waited for another record has failed now, which concerns nobody any more.
            _ = closed.Reading is { IsCompleted: true } reading ? reading.Exception : null;
        }
        else if (closed.Handshake is { } handshake)
        {
            if (closed.IsRefused) handshake.Dispose();
            else Abandon(handshake);
        }
        closed.Input.Drop(closed.Input.Count);
        closed.Plain.Drop(closed.Plain.Count);
        closed.Unsent.Drop(closed.Unsent.Count);
        var last = _open[^1];
        _open[closed.Place] = last;
        last.Place = closed.Place;
        _open.RemoveAt(_open.Count - 1);
    }

    private void Readable(SecureSocket socket)
    {
        if (socket.Tls is not null || socket.IsEnded)
        {
            if (socket.ServedIn == _polls)
            {
                // Once in a poll, whoever tells.
                List(socket);
                return;
            }
            socket.ServedIn = _polls;
            _events.OnReadable(socket);
            if (!socket.IsClosed && socket.HasMore) List(socket);
        }
        else if (socket.Handshake is { } handshake)
        {
            Bring(socket, handshake);
        }
    }

    // Nothing comes any more, which the next poll tells.
    private void End(SecureSocket socket)
    {
        socket.IsEnded = true;
        List(socket);
    }

    private void List(SecureSocket socket)
    {
        if (socket.IsListed || socket.IsPaused) return;
        socket.IsListed = true;
        _readable.Add(socket);
    }
}
