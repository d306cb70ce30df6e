using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using GroupCore.Platform;

namespace GroupCore.Transport.Sockets;

/// <summary>
/// Sockets by completion (<see cref="SocketAsyncEventArgs"/>), for systems without epoll. A completion is queued by the thread on which it
/// comes, and reported by the next poll. A receive of no bytes completes when bytes have arrived, which are then read into the caller's buffer.
/// Bytes to send are copied once, so that no slab of a queue is shared with the system. An idle socket holds no buffer.
/// </summary>
/// <remarks>
/// Where nobody listens, Windows tries three times, 2 s in all: the dial is over by then, and no refusal is reported. Windows could be told to try only once
/// (SIO_TCP_INITIAL_RTO). But Windows also refuses connections when a listener has not yet taken those that wait at it, and a node that refuses counts as dead.
/// </remarks>
internal sealed class CompletionPort : ISocketPort
{
    private const int Backlog = 512;
    private readonly ConcurrentQueue<SocketAsyncEventArgs> _completed = new();
    private readonly SlabPool _buffers = new();
    private readonly ThreadSignal _wake = new(portable: true);
    private readonly HashSet<CompletionSocket> _open = [];
    private readonly List<CompletionSocket> _readable = [];
    private readonly SocketAsyncEventArgs _accept = new(true);
    private readonly EventHandler<SocketAsyncEventArgs> _onCompleted;
    private Socket? _listener;
    private bool _acceptsNext;
    private volatile bool _waiting, _disposed;

    public CompletionPort()
    {
        _onCompleted = (_, operation) => Completed(operation);
        _accept.Completed += _onCompleted;
    }

    public IPEndPoint Listen(IPEndPoint at)
    {
        _listener = new(at.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            // At all addresses: those of the older protocol too.
            if (at.Address.Equals(IPAddress.IPv6Any)) _listener.DualMode = true;
            _listener.Bind(at);
            _listener.Listen(Backlog);
        }
        catch (SocketException error)
        {
            if (error.SocketErrorCode == SocketError.AddressAlreadyInUse) throw new AddressInUseException(at.ToString());
            throw new IOException($"Cannot listen at {at}: {error.Message}.", error);
        }
        BeginAccept();
        return (IPEndPoint)_listener.LocalEndPoint!;
    }

    public PortSocket Dial(IPEndPoint to)
    {
        CompletionSocket? socket = null;
        try
        {
            socket = Open(new(to.AddressFamily, SocketType.Stream, ProtocolType.Tcp));
            // The receive operation also serves for connecting: it is not used before the connection is made.
            socket.Input.RemoteEndPoint = to;
            if (!socket.Socket.ConnectAsync(socket.Input)) Completed(socket.Input);
            return socket;
        }
        catch (Exception error)
        {
            if (socket is not null) Close(socket);
            if (error is SocketException { SocketErrorCode: SocketError.TooManyOpenSockets }) throw new NoDescriptorException(error.Message, error);
            throw;
        }
    }

    /// <summary>Bytes of the buffers that are in use; for checks.</summary>
    public long BufferBytes => _buffers.RentedBytes;

    /// <summary>The operation that accepts; for checks.</summary>
    internal SocketAsyncEventArgs Accepting => _accept;

    /// <summary>Sockets that are not closed; for checks.</summary>
    public int Sockets => _open.Count;

    public bool HasNews => _readable.Count > 0 || _acceptsNext;

    public void Wait(long timeout)
    {
        if (HasNews) return;
        _waiting = true;
        Interlocked.MemoryBarrier();
        if (_completed.IsEmpty) _wake.Wait(timeout == long.MaxValue ? -1 : (int)Math.Min(int.MaxValue, (timeout + 999_999) / 1_000_000));
        _waiting = false;
    }

    public void Poll(ISocketPortEvents events)
    {
        while (_completed.TryDequeue(out var operation))
        {
            if (operation == _accept) Accepted(events);
            else Take(operation, (CompletionSocket)operation.UserToken!, events);
        }
        int listed = _readable.Count;
        for (int i = 0; i < listed; i++)
        {
            var socket = _readable[i];
            socket.IsListed = false;
            if (socket is { IsClosed: false, IsPaused: false }) events.OnReadable(socket);
            if (!socket.IsClosed && (socket.IsReadable || socket.IsEnded)) List(socket);
        }
        _readable.RemoveRange(0, listed);
        // One accept per poll, so that accepts that fail or succeed at once, again and again, do not keep other sockets waiting.
        if (_acceptsNext) BeginAccept();
    }

    public void ResumeAccepting() => _acceptsNext = true;

    public int Receive(PortSocket socket, Span<byte> to)
    {
        var from = (CompletionSocket)socket;
        if (from.IsEnded) return -1;
        if (!from.IsReadable) return 0;
        int count = from.Socket.Receive(to, SocketFlags.None, out var error);
        if (error is not (SocketError.Success or SocketError.WouldBlock) || (error == SocketError.Success && count == 0)) return -1;
        // All bytes that had arrived were read: wait for the next ones.
        if (count < to.Length) BeginReceive(from);
        return count;
    }

    public void Pause(PortSocket socket) => socket.IsPaused = true;

    public void Resume(PortSocket socket)
    {
        socket.IsPaused = false;
        if (!socket.IsClosed) List((CompletionSocket)socket);
    }

    public int Send(PortSocket socket, ReadOnlySpan<ArraySegment<byte>> pieces)
    {
        var to = (CompletionSocket)socket;
        if (to.IsEnded) return -1;
        to.IsBlocked = to.IsSending;
        if (to.IsSending) return 0;
        int total = 0, count = 0;
        foreach (var piece in pieces) total += piece.Count;
        to.Sending = _buffers.Rent(Math.Min(total, SlabPool.MediumBytes));
        var room = to.Sending.Bytes.AsSpan();
        foreach (var piece in pieces)
        {
            int here = Math.Min(piece.Count, room.Length - count);
            piece.AsSpan(0, here).CopyTo(room[count..]);
            count += here;
            if (here == piece.Count) continue;
            to.IsBlocked = true;
            break;
        }
        to.Output.SetBuffer(to.Sending.Bytes, 0, count);
        BeginSend(to);
        return count;
    }

    public IPEndPoint? RemoteOf(PortSocket socket)
    {
        try
        {
            return ((CompletionSocket)socket).Socket.RemoteEndPoint as IPEndPoint;
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            return null;
        }
    }

    public void Close(PortSocket socket)
    {
        var closed = (CompletionSocket)socket;
        if (closed.IsClosed) return;
        closed.MarkClosed();
        _open.Remove(closed);
        closed.Socket.Dispose();
    }

    public void Wake() => _wake.Set();

    public void Dispose()
    {
        _disposed = true;
        foreach (var socket in _open.ToArray()) Close(socket);
        _listener?.Dispose();
        Interlocked.MemoryBarrier();
        // Closes a connection that came after the last poll.
        _accept.AcceptSocket?.Dispose();
    }

    /// <summary>An operation is over. From any thread.</summary>
    internal void Completed(SocketAsyncEventArgs operation)
    {
        _completed.Enqueue(operation);
        Interlocked.MemoryBarrier();
        if (_waiting) _wake.Set();
        // Nobody polls any more, and Dispose may have looked for the connection before it came.
        if (_disposed && operation == _accept) _accept.AcceptSocket?.Dispose();
    }

    private void Take(SocketAsyncEventArgs operation, CompletionSocket socket, ISocketPortEvents events)
    {
        bool failed = operation.SocketError != SocketError.Success;
        switch (operation.LastOperation)
        {
            case SocketAsyncOperation.Connect:
                if (socket.IsClosed) break;
                if (failed) Close(socket);
                else BeginReceive(socket);
                events.OnDialled(socket, operation.SocketError switch
                {
                    SocketError.Success => DialResult.Connected,
                    SocketError.ConnectionRefused => DialResult.Refused,
                    _ => DialResult.Unreachable,
                });
                break;
            case SocketAsyncOperation.Receive:
                if (socket.IsClosed) break;
                socket.IsReadable = true;
                socket.IsEnded |= failed;
                List(socket);
                break;
            default:
                Sent(operation, socket, failed, events);
                break;
        }
    }

    private void Sent(SocketAsyncEventArgs operation, CompletionSocket socket, bool failed, ISocketPortEvents events)
    {
        int left = failed || socket.IsClosed ? 0 : operation.Count - operation.BytesTransferred;
        if (left > 0)
        {
            operation.SetBuffer(operation.Offset + operation.BytesTransferred, left);
            BeginSend(socket);
            return;
        }
        socket.IsSending = false;
        socket.Sending!.Release();
        socket.Sending = null;
        if (socket.IsClosed) return;
        if (failed)
        {
            socket.IsEnded = true;
            List(socket);
        }
        else if (socket.IsBlocked)
        {
            socket.IsBlocked = false;
            events.OnWritable(socket);
        }
    }

    private void Accepted(ISocketPortEvents events)
    {
        var accepted = _accept.AcceptSocket;
        _accept.AcceptSocket = null;
        _acceptsNext = _accept.SocketError is SocketError.Success or SocketError.ConnectionReset or SocketError.ConnectionAborted or SocketError.Interrupted;
        if (!_acceptsNext) events.OnAcceptFailed(_accept.SocketError == SocketError.TooManyOpenSockets);
        if (_accept.SocketError != SocketError.Success || TryOpen(accepted!) is not { } socket)
        {
            accepted?.Dispose();
            return;
        }
        BeginReceive(socket);
        events.OnAccepted(socket);
    }

    private void List(CompletionSocket socket)
    {
        if (socket.IsListed || socket.IsPaused) return;
        socket.IsListed = true;
        _readable.Add(socket);
    }

    private void BeginAccept()
    {
        _acceptsNext = false;
        try
        {
            if (!_listener!.AcceptAsync(_accept)) Completed(_accept);
        }
        catch (ObjectDisposedException)
        {
            // The port was disposed: nothing listens any more.
        }
        catch (SocketException error)
        {
            // No descriptor or no memory is left, which some systems report at once. It is reported like every accept that failed.
            _accept.SocketError = error.SocketErrorCode;
            Completed(_accept);
        }
    }

    private void BeginReceive(CompletionSocket socket)
    {
        socket.IsReadable = false;
        socket.Input.SetBuffer([], 0, 0);
        try
        {
            if (!socket.Socket.ReceiveAsync(socket.Input)) Completed(socket.Input);
        }
        catch (ObjectDisposedException)
        {
            // The socket was closed meanwhile.
        }
    }

    private void BeginSend(CompletionSocket socket)
    {
        socket.IsSending = true;
        if (!socket.Socket.SendAsync(socket.Output)) Completed(socket.Output);
    }

    // Null when the connection is broken already, which some systems report when the first option is set.
    private CompletionSocket? TryOpen(Socket socket)
    {
        try
        {
            return Open(socket);
        }
        catch (SocketException)
        {
            return null;
        }
    }

    private CompletionSocket Open(Socket socket)
    {
        try
        {
            socket.NoDelay = true;
            AskForKeepAlive(socket);
            socket.Blocking = false;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
        var opened = new CompletionSocket(socket, _onCompleted);
        _open.Add(opened);
        return opened;
    }

    // A system that refuses one of these options keeps its own time: a late reset is better than no link.
    private static void AskForKeepAlive(Socket socket)
    {
        TrySet(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, 1);
        TrySet(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, KeepAlive.Idle);
        TrySet(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, KeepAlive.Interval);
        TrySet(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, KeepAlive.Questions);
        int milliseconds = KeepAlive.Unacknowledged;
        if (OperatingSystem.IsLinux()) Try(() => socket.SetRawSocketOption(LibC.TcpLevel, LibC.UserTimeout, MemoryMarshal.AsBytes(new ReadOnlySpan<int>(in milliseconds))));

        void TrySet(SocketOptionLevel level, SocketOptionName name, int value) => Try(() => socket.SetSocketOption(level, name, value));

        static void Try(Action set)
        {
            try
            {
                set();
            }
            catch (SocketException)
            {
            }
        }
    }
}
