using BenchmarkDotNet.Attributes;
using GroupCore.Groups.Multicast;
using Ida.Ordering;

namespace Ida.Perf.Micro;

/// <summary>The two orders: positions of a group's messages, and the queue of operations on one key.</summary>
[MemoryDiagnoser]
public class OrderBenchmarks
{
    private const int Messages = 256;
    private readonly OrderLog _order = new();
    private readonly byte[] _frame = new byte[Messages * 8];
    private readonly List<(ushort Rank, uint Seq)> _read = new(Messages);
    private readonly Entry _entry = new([1, 2, 3], 7) { Queue = new() };
    private KeyUse[] _uses = [];
    private uint _next;

    /// <summary>Number of operations that wait in the key's queue.</summary>
    [Params(1, 16)]
    public int Waiting { get; set; }

    [GlobalSetup]
    public void Setup() => _uses = [.. Enumerable.Range(0, Waiting + 1).Select(i => new KeyUse
    {
        Entry = _entry,
        Op = new ParticipantRecord(new()) { Key = new(new(1, (ulong)i), 0), Proposed = (ulong)(i + 1) },
    })];

    /// <summary>A turn at the sequencer and at a receiver: positions for the messages of three senders are written to the wire, read back, and dropped as stable.</summary>
    [Benchmark(OperationsPerInvoke = Messages)]
    public int Positions()
    {
        uint from = _order.Length;
        for (int i = 0; i < Messages; i++) _order.Append(i * 3 / Messages, _next++);
        int size = OrderRuns.SizeOf(_order, from, _order.Length);
        OrderRuns.Write(_frame.AsSpan(0, size), _order, from, _order.Length);
        _read.Clear();
        if (!OrderRuns.TryRead(_frame.AsSpan(0, size), 3, Messages, _read)) throw new InvalidOperationException("What was written does not read.");
        _order.Closed = _order.Delivered = _order.Length;
        _order.DropBelow(_order.Length);
        return _read.Count;
    }

    /// <summary>One more operation enters the queue of a key, and the oldest leaves.</summary>
    [Benchmark]
    public int KeyQueue()
    {
        var queue = _entry.Queue!;
        foreach (var use in _uses)
            if (!use.Queued) queue.Enqueue(use);
        var oldest = queue.Head!;
        queue.Dequeue(oldest);
        oldest.Op.Proposed += (ulong)_uses.Length;
        return queue.Uses;
    }
}
