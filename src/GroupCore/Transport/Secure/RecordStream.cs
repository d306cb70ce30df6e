using System.Buffers.Binary;

namespace GroupCore.Transport.Secure;

/// <summary>
/// What an <see cref="System.Net.Security.SslStream"/> reads and writes in place of a socket. It is given one whole TLS record at a time, so whoever feeds it knows before
/// a read whether that read completes at once: it does, unless the record carries nothing for the user. Bytes written are kept until they are taken.
/// </summary>
/// <remarks>
/// One thread at a time uses it: the one that shakes hands, then the loop. A read that waits goes on inside <see cref="Feed"/>, on the feeder's thread.
/// </remarks>
internal sealed class RecordStream : Stream
{
    /// <summary>Bytes of the header of a record: type, version, length.</summary>
    public const int HeaderBytes = 5;

    /// <summary>Most bytes of a record: 2^14 of plain text and 256 of padding, type and tag (RFC 8446, 5.2), and the header.</summary>
    public const int MostBytes = HeaderBytes + (1 << 14) + 256;

    // Types of records are 20 to 23, and all of them say version 3.x (RFC 8446, 5.1).
    private const byte LeastType = 20, MostType = 23, Version = 3;

    private ReadOnlyMemory<byte> _record;
    private TaskCompletionSource<int>? _waiting;
    private Memory<byte> _waitsFor;
    private RecordOutput _output = new(pinned: false);
    private bool _ended;

    /// <summary>Where written bytes go.</summary>
    public RecordOutput Output
    {
        get => _output;
        set => _output = value;
    }

    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override bool CanWrite => true;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>The length of the record that begins here, header included; 0 while the header is not complete, −1 when no record begins so.</summary>
    public static int LengthOf(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > 0 && (bytes[0] is < LeastType or > MostType || (bytes.Length > 1 && bytes[1] != Version))) return -1;
        if (bytes.Length < HeaderBytes) return 0;
        int length = HeaderBytes + BinaryPrimitives.ReadUInt16BigEndian(bytes[3..]);
        return length > MostBytes ? -1 : length;
    }

    /// <summary>Whether a whole record stands here, or something that is none.</summary>
    public static bool BeginsWhole(ReadOnlySpan<byte> bytes) => LengthOf(bytes) is var length && (length < 0 || (length > 0 && bytes.Length >= length));

    /// <summary>Gives one whole record, which must stay as it is until it is read.</summary>
    public void Feed(ReadOnlyMemory<byte> record)
    {
        _record = record;
        if (_waiting is not { } waiting) return;
        _waiting = null;
        waiting.SetResult(Take(_waitsFor.Span));
    }

    /// <summary>Whether the fed record was read to its end.</summary>
    public bool IsEmpty => _record.IsEmpty;

    /// <summary>Whether it was told that nothing comes any more.</summary>
    public bool IsOver => _ended;

    /// <summary>Nothing comes any more: reads return 0 from now on.</summary>
    public void End()
    {
        _ended = true;
        var waiting = _waiting;
        _waiting = null;
        waiting?.SetResult(0);
    }

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        // A read of no bytes asks whether a read would wait. The read that follows tells.
        if (buffer.IsEmpty || _ended) return new(0);
        if (!_record.IsEmpty) return new(Take(buffer.Span));
        _waitsFor = buffer;
        _waiting = new();
        return new(_waiting.Task);
    }

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) => ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        _output.Add(buffer.Span);
        return default;
    }

    /// <inheritdoc/>
    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        _output.Add(buffer.AsSpan(offset, count));
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => _output.Add(buffer.AsSpan(offset, count));

    /// <inheritdoc/>
    public override void Write(ReadOnlySpan<byte> buffer) => _output.Add(buffer);

    /// <inheritdoc/>
    public override void Flush()
    {
    }

    /// <inheritdoc/>
    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("Reads of a loop never block.");

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    private int Take(Span<byte> to)
    {
        int count = Math.Min(to.Length, _record.Length);
        _record.Span[..count].CopyTo(to);
        _record = _record[count..];
        return count;
    }
}
