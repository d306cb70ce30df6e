using System.Net.Security;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Secure;

/// <content>Bytes to records and back, on connections whose handshake has succeeded.</content>
internal sealed partial class SecurePort
{
    private const int RecordBytes = 16_000;
    private const int RecordsPerWrite = 4;
    private const int InputBytes = SlabPool.SmallBytes;

    // Of one receive: records may carry a byte each, and cost 1.7 µs whatever they carry. A stranger, who gets less room the more of them there are, gets fewer records too.
    private const int RecordsPerReceive = 32, RoomPerRecord = 512;

    // Room for the headers, tags and padding of a few records beside what is asked for.
    private const int Overhead = 1024;

    // Records that carry nothing for the user are tickets, 250 bytes each, of which TLS sends two after the handshake. A peer that sends others lets this end compute, and keep answers to them.
    private const int MostIdle = 32, IdleBytes = 2048;

    // What records of one write may make, answers to such records included.
    private const int MostMade = SlabPool.MediumBytes;
    private const int MadeKept = SlabPool.MediumBytes;

    private readonly RecordOutput _output = new(pinned: true);
    private readonly byte[] _input = GC.AllocateUninitializedArray<byte>(InputBytes, pinned: true);
    private readonly byte[] _decrypted = new byte[1 << 14];
    private readonly byte[] _gathered = new byte[RecordBytes];
    private int _start, _end;

    /// <summary>Bytes of records that are made with one key: RFC 8446 allows 2^24.5 whole ones.</summary>
    public long MostMadeBytes { get; init; } = 1L << 38;

    public int Receive(PortSocket socket, Span<byte> to)
    {
        var from = (SecureSocket)socket;
        int count = TakePlain(from, to);
        if (count < to.Length && from is { Tls: { } tls, IsEnded: false }) count += Decrypt(from, tls, to[count..]);
        return count > 0 || !from.IsEnded ? count : -1;
    }

    public int Send(PortSocket socket, ReadOnlySpan<ArraySegment<byte>> pieces)
    {
        var to = (SecureSocket)socket;
        if (to.Tls is not { } tls || !TrySendLeft(to) || to.Made > MostMadeBytes) return -1;
        int taken = 0, total = 0;
        foreach (var piece in pieces) total += piece.Count;
        while (to.Unsent.Count == 0 && taken < total)
        {
            for (int records = 0; records < RecordsPerWrite && taken < total; records++)
            {
                int count = Encrypt(tls, pieces, taken);
                if (count < 0) return -1;
                taken += count;
            }
            if (!TrySendMade(to)) return -1;
        }
        to.IsBlocked = taken < total;
        return taken;
    }

    private static int TakePlain(SecureSocket from, Span<byte> to)
    {
        int count = Math.Min(to.Length, from.Plain.Count);
        if (count == 0) return 0;
        from.Plain.Bytes[..count].CopyTo(to);
        from.Plain.Drop(count);
        return count;
    }

    // Decrypts what has arrived, as far as there is room. It receives once, so that records that carry nothing end the turn; what it does not read is kept.
    private int Decrypt(SecureSocket from, SslStream tls, Span<byte> to)
    {
        from.Input.Bytes.CopyTo(_input);
        (_start, _end) = (0, from.Input.Count);
        from.Input.Drop(from.Input.Count);
        int count = 0;
        bool mayReceive = true, isOver = false;
        int most = Math.Clamp(to.Length / RoomPerRecord, 1, RecordsPerReceive);
        for (int records = 0; records < most && count < to.Length && !isOver; records++)
        {
            int length = RecordStream.LengthOf(_input.AsSpan(_start, _end - _start));
            if (length == 0 || _end - _start < length)
            {
                if (!mayReceive) break;
                mayReceive = false;
                records--;
                isOver = !TryFill(from, to.Length - count);
                continue;
            }
            int read = length < 0 ? -1 : Read(from, tls, _input.AsMemory(_start, length));
            isOver = read < 0;
            _start += Math.Max(length, 0);
            if (read > 0) count += Hand(from, read, to[count..]);
        }
        if (isOver) from.IsEnded = true;
        else from.Input.Set(_input.AsSpan(_start, _end - _start), _pool);
        return count;
    }

    // Receives about as much as there is room for, and the rest of a record; false at the end.
    private bool TryFill(SecureSocket from, int room)
    {
        _input.AsSpan(_start, _end - _start).CopyTo(_input);
        (_start, _end) = (0, _end - _start);
        int most = Math.Min(Math.Max(room, RecordStream.MostBytes) + Overhead, _input.Length - _end);
        int count = _under.Receive(from.Under, _input.AsSpan(_end, most));
        if (count > 0) _end += count;
        return count >= 0;
    }

    // The bytes of one record, −1 at the end, 0 if it has none for the user: then a read waits for the next record.
    private int Read(SecureSocket from, SslStream tls, ReadOnlyMemory<byte> record)
    {
        try
        {
            from.Records.Feed(record);
            int count = ReadOn(from, tls);
            // What the stream wrote meanwhile goes out under its own connection.
            if (!TrySendMade(from)) return -1;
            if (count == 0 && (record.Length > IdleBytes || ++from.Idle > MostIdle)) return -1;
            return count;
        }
        catch (Exception)
        {
            // A record that was changed on the way, an alert, or a message that has no place here: whatever it is, the connection ends.
            _output.Clear();
            return -1;
        }
    }

    private int ReadOn(SecureSocket from, SslStream tls)
    {
        if (from.Reading is not { } reading)
        {
            var read = tls.ReadAsync(_decrypted);
            if (read.IsCompleted) return read.GetAwaiter().GetResult() is > 0 and var at ? at : -1;
            from.Reading = read.AsTask();
            return 0;
        }
        // It went on inside Feed, on this thread.
        if (!reading.IsCompleted) return 0;
        from.Reading = null;
        return reading.GetAwaiter().GetResult() is > 0 and var count ? count : -1;
    }

    private int Hand(SecureSocket from, int count, Span<byte> to)
    {
        int given = Math.Min(count, to.Length);
        _decrypted.AsSpan(0, given).CopyTo(to);
        from.Plain.Set(_decrypted.AsSpan(given, count - given), _pool);
        return given;
    }

    // Makes one record of what the pieces have from this byte on; returns how many bytes it carries, −1 if nothing can be sent any more.
    private int Encrypt(SslStream tls, ReadOnlySpan<ArraySegment<byte>> pieces, int from)
    {
        int count = 0;
        foreach (var piece in pieces)
        {
            if (from >= piece.Count)
            {
                from -= piece.Count;
                continue;
            }
            int here = Math.Min(piece.Count - from, RecordBytes - count);
            piece.AsSpan(from, here).CopyTo(_gathered.AsSpan(count));
            count += here;
            from = 0;
            if (count == RecordBytes) break;
        }
        try
        {
            // The stream below takes all at once, so this never waits.
            var written = tls.WriteAsync(_gathered.AsMemory(0, count));
            if (written.IsCompletedSuccessfully) return count;
            _ = written.AsTask().Exception;
        }
        catch (Exception)
        {
            // A read has found the connection to be broken.
        }
        _output.Clear();
        return -1;
    }

    // Sends what waits in front of everything else; false if the connection broke.
    private bool TrySendLeft(SecureSocket to)
    {
        if (to.Unsent.Count == 0) return true;
        int count = _under.Send(to.Under, [to.Unsent.Pinned]);
        if (count > 0) to.Unsent.Drop(count);
        return count >= 0;
    }

    // Sends the records that were just made, and keeps what is not taken; false if the connection broke, or if they are more than a connection makes.
    private bool TrySendMade(SecureSocket to)
    {
        var made = _output.Bytes;
        _output.Clear(MadeKept);
        if (made.Count == 0) return true;
        to.Made += made.Count;
        int left = to.Unsent.Count;
        if (left + made.Count > MostMade) return false;
        int count = left == 0 ? _under.Send(to.Under, [made]) : 0;
        if (count < 0) return false;
        if (count < made.Count) Keep(to, made[count..]);
        return true;
    }

    // Behind what waits already, as when a handshake says more before its first bytes are taken.
    private void Keep(SecureSocket to, ArraySegment<byte> bytes)
    {
        if (to.Unsent.Count == 0)
        {
            to.Unsent.Set(bytes, _pool);
            return;
        }
        byte[] all = [.. to.Unsent.Bytes, .. bytes];
        to.Unsent.Drop(to.Unsent.Count);
        to.Unsent.Set(all, _pool);
    }
}
