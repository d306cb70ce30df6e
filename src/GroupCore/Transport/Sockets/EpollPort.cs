using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using GroupCore.Basics;
using GroupCore.Platform;

namespace GroupCore.Transport.Sockets;

/// <summary>
/// Sockets by readiness (epoll), for Linux. Edge-triggered, so that no registration changes while a connection lives; a socket stays in the list
/// of readable ones until a receive finds it empty.
/// </summary>
/// <remarks>
/// With few connections a poll that does not wait tries a receive on each and asks epoll only every <see cref="DirectPolls"/>th time, or when the
/// clock has ticked (some ms). That saves one system call per message while the loop spins. Thanks to the tick, finished dials are noticed in time even if turns are long.
/// </remarks>
[SupportedOSPlatform("linux")]
internal sealed unsafe class EpollPort : ISocketPort
{
    private const int Events = 2 * MostAccepts;
    private const int DirectSockets = 4;
    private const int DirectPolls = 16;
    private const int Backlog = 512;

    // A poll accepts at most this many, so that a storm of dials does not keep connected peers waiting for long.
    private const int MostAccepts = 64;
    private const ulong WakeData = ulong.MaxValue, ListenData = ulong.MaxValue - 1;

    // struct epoll_event is packed on x64 only.
    private static readonly int DataAt = RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 4 : 8;
    private static readonly int EventSize = DataAt + 8;

    private readonly int _poll;
    private readonly int _wake;
    private readonly byte[] _events = GC.AllocateArray<byte>(Events * 16, pinned: true);
    private readonly byte* _eventsAt;
    private readonly List<EpollSocket?> _slots = [];
    private readonly Stack<int> _freeSlots = new();
    private readonly List<EpollSocket> _readable = [];
    private readonly List<(EpollSocket Socket, DialResult Result)> _failed = [];
    private int _listener = -1;
    private bool _acceptable;
    private bool _acceptFailed;
    private int _connected;
    private int _blocked;
    private int _direct;
    private long _asked;
    private int _pending;
    private bool _disposed;
    private readonly Lock _wakeLock = new();
    private uint _generation;

    public EpollPort()
    {
        _eventsAt = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_events));
        _poll = Check(LibC.EpollCreate(LibC.CloseOnExec));
        _wake = LibC.EventDescriptor(0, LibC.NonBlocking | LibC.CloseOnExec);
        try
        {
            Check(_wake);
            Register(_wake, LibC.In, WakeData);
        }
        catch (IOException)
        {
            if (_wake >= 0) LibC.Close(_wake);
            LibC.Close(_poll);
            throw;
        }
    }

    public IPEndPoint Listen(IPEndPoint at)
    {
        var address = at.Serialize();
        _listener = Check(LibC.Socket(Native(at), LibC.Stream | LibC.NonBlocking | LibC.CloseOnExec, 0));
        SetOption(_listener, LibC.SocketLevel, LibC.ReuseAddress);
        // At all addresses: those of the older protocol too, whatever the system's default is.
        if (at.Address.Equals(IPAddress.IPv6Any)) SetOption(_listener, LibC.VersionSixLevel, LibC.VersionSixOnly, 0);
        int done;
        fixed (byte* bytes = address.Buffer.Span) done = LibC.Bind(_listener, bytes, (uint)address.Size);
        if (done == 0) done = LibC.Listen(_listener, Backlog);
        if (done < 0)
        {
            if (Marshal.GetLastPInvokeError() == LibC.InUse) throw new AddressInUseException(at.ToString());
            throw new IOException($"Cannot listen at {at}: {Marshal.GetLastPInvokeErrorMessage()}.");
        }
        uint length = (uint)address.Size;
        fixed (byte* bytes = address.Buffer.Span) Check(LibC.GetSocketName(_listener, bytes, &length));
        Register(_listener, LibC.In | LibC.Edge, ListenData);
        return (IPEndPoint)at.Create(address);
    }

    public PortSocket Dial(IPEndPoint to)
    {
        int descriptor = Check(LibC.Socket(Native(to), LibC.Stream | LibC.NonBlocking | LibC.CloseOnExec, 0));
        var address = to.Serialize();
        int done;
        fixed (byte* bytes = address.Buffer.Span) done = LibC.Connect(descriptor, bytes, (uint)address.Size);
        int error = done == 0 ? 0 : Marshal.GetLastPInvokeError();
        var socket = Add(descriptor);
        if (error is not (0 or LibC.InProgress)) _failed.Add((socket, ResultOf(error)));
        return socket;
    }

    public bool HasNews => _readable.Count > 0 || _failed.Count > 0 || MayAccept;

    private bool MayAccept => _acceptable && !_acceptFailed;

    public void ResumeAccepting() => _acceptFailed = false;

    public void Wait(long timeout)
    {
        if (HasNews) return;
        _pending = WaitForEvents(timeout == long.MaxValue ? -1 : (int)Math.Min(int.MaxValue, (timeout + 999_999) / 1_000_000));
    }

    public void Poll(ISocketPortEvents events)
    {
        if (_pending == 0 && _connected is > 0 and <= DirectSockets && _failed.Count == 0 && !MayAccept && _blocked == 0 && ++_direct % DirectPolls != 0 && Ticks == _asked)
        {
            PollDirectly(events);
            return;
        }
        _asked = Ticks;
        int count = _pending > 0 ? _pending : WaitForEvents(0);
        _pending = 0;
        for (int i = 0; i < count; i++)
        {
            byte* at = _eventsAt + (i * EventSize);
            Take(Unsafe.ReadUnaligned<uint>(at), Unsafe.ReadUnaligned<ulong>(at + DataAt), events);
        }
        if (_failed.Count > 0) ReportFailed(events);
        int listed = _readable.Count;
        for (int i = 0; i < listed; i++)
        {
            var socket = _readable[i];
            socket.IsListed = false;
            if (socket is { IsClosed: false, IsPaused: false }) events.OnReadable(socket);
            if (socket is { IsReadable: true, IsClosed: false }) List(socket);
        }
        _readable.RemoveRange(0, listed);
        // Accept last: a newcomer may push out a connection whose Hello is not read yet, but not one whose Hello has arrived.
        if (MayAccept) Accept(events);
    }

    public int Receive(PortSocket socket, Span<byte> to)
    {
        var from = (EpollSocket)socket;
        while (true)
        {
            nint count;
            fixed (byte* bytes = to) count = LibC.Receive(from.Descriptor, bytes, (nuint)to.Length, LibC.DontWait);
            if (count > 0)
            {
                from.IsReadable = count == to.Length || from.IsEnded;
                return (int)count;
            }
            if (count == 0) return -1;
            int error = Marshal.GetLastPInvokeError();
            if (error == LibC.Interrupted) continue;
            from.IsReadable = false;
            return error == LibC.WouldBlock ? 0 : -1;
        }
    }

    public void Pause(PortSocket socket) => socket.IsPaused = true;

    public void Resume(PortSocket socket)
    {
        socket.IsPaused = false;
        if (!socket.IsClosed) List((EpollSocket)socket);
    }

    public int Send(PortSocket socket, ReadOnlySpan<ArraySegment<byte>> pieces)
    {
        var to = (EpollSocket)socket;
        var vectors = stackalloc LibC.IoVector[pieces.Length];
        nint total = 0;
        for (int i = 0; i < pieces.Length; i++)
        {
            ref byte first = ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(pieces[i].Array!), pieces[i].Offset);
            vectors[i] = new() { Base = (byte*)Unsafe.AsPointer(ref first), Length = (nuint)pieces[i].Count };
            total += pieces[i].Count;
        }
        var message = new LibC.Message { Vectors = vectors, Count = (nuint)pieces.Length };
        while (true)
        {
            nint count = LibC.Send(to.Descriptor, &message, LibC.DontWait | LibC.NoSignal);
            int error = count < 0 ? Marshal.GetLastPInvokeError() : 0;
            if (error == LibC.Interrupted) continue;
            if (error is not (0 or LibC.WouldBlock)) return -1;
            SetBlocked(to, count < total);
            return (int)Math.Max(0, count);
        }
    }

    public IPEndPoint? RemoteOf(PortSocket socket)
    {
        // Large enough for both families.
        var address = new SocketAddress(AddressFamily.InterNetworkV6);
        uint length = (uint)address.Size;
        if (socket.IsClosed) return null;
        fixed (byte* bytes = address.Buffer.Span)
            if (LibC.GetPeerName(((EpollSocket)socket).Descriptor, bytes, &length) < 0) return null;
        return (IPEndPoint)new IPEndPoint(address.Family == AddressFamily.InterNetworkV6 ? IPAddress.IPv6Any : IPAddress.Any, 0).Create(address);
    }

    public void Close(PortSocket socket)
    {
        var closed = (EpollSocket)socket;
        if (closed.IsClosed) return;
        closed.MarkClosed();
        if (closed.IsConnected) _connected--;
        SetBlocked(closed, false);
        _slots[closed.Slot] = null;
        _freeSlots.Push(closed.Slot);
        LibC.Close(closed.Descriptor);
    }

    public void Wake()
    {
        // Once the descriptor is closed, its number may belong to another file.
        using (_wakeLock.Hold())
        {
            ulong one = 1;
            if (!_disposed) LibC.Write(_wake, &one, sizeof(ulong));
        }
    }

    public void Dispose()
    {
        foreach (var socket in _slots.ToArray())
            if (socket is not null) Close(socket);
        if (_listener >= 0) LibC.Close(_listener);
        _listener = -1;
        using (_wakeLock.Hold())
        {
            if (_disposed) return;
            _disposed = true;
            LibC.Close(_wake);
        }
        LibC.Close(_poll);
    }

    private void PollDirectly(ISocketPortEvents events)
    {
        _readable.Clear();
        for (int i = 0; i < _slots.Count; i++)
        {
            if (_slots[i] is not { IsConnected: true } socket) continue;
            socket.IsListed = false;
            if (!socket.IsPaused) events.OnReadable(socket);
            if (socket is { IsReadable: true, IsClosed: false }) List(socket);
        }
    }

#pragma warning disable RS0030 // No time of a protocol: the cheapest sign that some has gone, also within a turn.
    private static long Ticks => Environment.TickCount64;
#pragma warning restore RS0030

    private int WaitForEvents(int milliseconds) => LibC.EpollWait(_poll, _eventsAt, Events, milliseconds);

    private void Take(uint what, ulong data, ISocketPortEvents events)
    {
        if (data == WakeData)
        {
            ulong count;
            LibC.Read(_wake, &count, sizeof(ulong));
            return;
        }
        if (data == ListenData)
        {
            _acceptable = true;
            return;
        }
        // If an earlier event of this batch closed the event's socket, the generations differ.
        if (_slots[(int)(uint)data] is not { } socket || socket.Generation != (uint)(data >> 32)) return;
        if (!socket.IsConnected)
        {
            if ((what & (LibC.Out | LibC.Err | LibC.Hup)) != 0) Connected(socket, events);
            if (!socket.IsConnected || socket.IsClosed) return;
        }
        if ((what & (LibC.In | LibC.ReadHup | LibC.Hup | LibC.Err)) != 0)
        {
            socket.IsReadable = true;
            socket.IsEnded |= (what & (LibC.ReadHup | LibC.Hup | LibC.Err)) != 0;
            List(socket);
        }
        if ((what & LibC.Out) == 0 || !socket.IsBlocked) return;
        SetBlocked(socket, false);
        events.OnWritable(socket);
    }

    private void Connected(EpollSocket socket, ISocketPortEvents events)
    {
        int error = 0;
        uint length = sizeof(int);
        LibC.GetOption(socket.Descriptor, LibC.SocketLevel, LibC.Error, &error, &length);
        if (error == 0)
        {
            socket.IsConnected = true;
            _connected++;
        }
        else
        {
            Close(socket);
        }
        events.OnDialled(socket, ResultOf(error));
    }

    private void ReportFailed(ISocketPortEvents events)
    {
        var failed = _failed.ToArray();
        _failed.Clear();
        foreach (var (socket, result) in failed)
        {
            if (socket.IsClosed) continue;
            Close(socket);
            events.OnDialled(socket, result);
        }
    }

    private void Accept(ISocketPortEvents events)
    {
        for (int i = 0; i < MostAccepts; i++)
        {
            int descriptor = LibC.Accept(_listener, null, null, LibC.NonBlocking | LibC.CloseOnExec);
            int error = descriptor < 0 ? Marshal.GetLastPInvokeError() : 0;
            if (error is LibC.Interrupted or LibC.Aborted) continue;
            if (error == LibC.WouldBlock)
            {
                _acceptable = false;
                return;
            }
            EpollSocket socket;
            try
            {
                Check(descriptor);
                socket = Add(descriptor);
            }
            catch (IOException failure)
            {
                _acceptFailed = true;
                events.OnAcceptFailed(failure is NoDescriptorException);
                return;
            }
            socket.IsConnected = true;
            _connected++;
            events.OnAccepted(socket);
        }
    }

    // Takes over the descriptor, and closes it before it throws.
    private EpollSocket Add(int descriptor)
    {
        if (!_freeSlots.TryPop(out int slot))
        {
            slot = _slots.Count;
            _slots.Add(null);
        }
        var socket = new EpollSocket(descriptor, slot, ++_generation & int.MaxValue);
        try
        {
            SetOption(descriptor, LibC.TcpLevel, LibC.NoDelay);
            SetTimes(descriptor);
            Register(descriptor, LibC.In | LibC.Out | LibC.ReadHup | LibC.Edge, ((ulong)socket.Generation << 32) | (uint)slot);
        }
        catch (IOException)
        {
            _freeSlots.Push(slot);
            LibC.Close(descriptor);
            throw;
        }
        _slots[slot] = socket;
        return socket;
    }

    private void SetBlocked(EpollSocket socket, bool blocked)
    {
        if (socket.IsBlocked != blocked) _blocked += blocked ? 1 : -1;
        socket.IsBlocked = blocked;
    }

    private void List(EpollSocket socket)
    {
        if (socket.IsListed || socket.IsPaused) return;
        socket.IsListed = true;
        _readable.Add(socket);
    }

    private void Register(int descriptor, uint what, ulong data)
    {
        byte* entry = stackalloc byte[16];
        Unsafe.WriteUnaligned(entry, what);
        Unsafe.WriteUnaligned(entry + DataAt, data);
        Check(LibC.EpollControl(_poll, LibC.Add, descriptor, entry));
    }

    private static DialResult ResultOf(int error) => error switch { 0 => DialResult.Connected, LibC.Refused => DialResult.Refused, _ => DialResult.Unreachable };

    private static int Native(IPEndPoint endPoint) => endPoint.AddressFamily == AddressFamily.InterNetworkV6 ? 10 : 2;

    private static void SetOption(int descriptor, int level, int name, int value = 1) => Check(LibC.SetOption(descriptor, level, name, &value, sizeof(int)));

    // A system that does not know one of these options keeps its own time: a late reset is better than no link.
    private static void SetTimes(int descriptor)
    {
        TrySet(LibC.SocketLevel, LibC.KeepAlive, 1);
        TrySet(LibC.TcpLevel, LibC.KeepAliveIdle, KeepAlive.Idle);
        TrySet(LibC.TcpLevel, LibC.KeepAliveInterval, KeepAlive.Interval);
        TrySet(LibC.TcpLevel, LibC.KeepAliveQuestions, KeepAlive.Questions);
        TrySet(LibC.TcpLevel, LibC.UserTimeout, KeepAlive.Unacknowledged);

        void TrySet(int level, int name, int value) => _ = LibC.SetOption(descriptor, level, name, &value, sizeof(int));
    }

    private static int Check(int result)
    {
        if (result >= 0) return result;
        string message = $"A system call of the socket port failed: {Marshal.GetLastPInvokeErrorMessage()}.";
        throw Marshal.GetLastPInvokeError() is LibC.TooManyOpen or LibC.TooManyOpenInSystem ? new NoDescriptorException(message) : new IOException(message);
    }
}
