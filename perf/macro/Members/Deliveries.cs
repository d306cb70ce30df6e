using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>
/// What was delivered to one member. Every byte is checked, each sender's numbers must have no gap, and in total order a rolling hash covers the whole sequence. The group's
/// handlers write here, one at a time.
/// </summary>
internal sealed class Deliveries(RunOptions options)
{
    private const int SenderShift = 48;
    private readonly long[] _next = new long[options.Members];
    private long _count, _orderErrors, _payloadErrors;
    private ulong _hash;

    public long Count => Volatile.Read(ref _count);

    public long OrderErrors => Volatile.Read(ref _orderErrors);

    public long PayloadErrors => Volatile.Read(ref _payloadErrors);

    public ulong OrderHash => Volatile.Read(ref _hash);

    public static ulong NumberOf(int sender, long sequence) => ((ulong)sender << SenderShift) | (ulong)sequence;

    /// <summary>Counts one message; false if no sender wrote it.</summary>
    public bool Take(ReadOnlySpan<byte> message, out int sender, out long sequence, out long due)
    {
        bool good = FilledBytes.TryRead(message, out ulong number, out ulong second) && message.Length == options.Size;
        (sender, sequence, due) = ((int)(number >> SenderShift), (long)(number & ((1UL << SenderShift) - 1)), (long)second);
        if (!good || sender >= _next.Length)
        {
            _payloadErrors++;
            return false;
        }
        if (sequence != _next[sender]) _orderErrors++;
        _next[sender] = sequence + 1;
        if (options.TotalOrder) _hash = (_hash * 31) + number;
        Volatile.Write(ref _count, _count + 1);
        return true;
    }
}
