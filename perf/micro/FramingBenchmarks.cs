using System.Buffers;
using BenchmarkDotNet.Attributes;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace Ida.Perf.Micro;

/// <summary>Frames of one body size, 64 at a time: headers alone, and frames from one end of a link to the other without a socket.</summary>
[MemoryDiagnoser]
public class FramingBenchmarks
{
    private const int Frames = 64;
    private readonly ArrayBufferWriter<byte> _wire = new(1 << 20);
    private readonly LinkSession _from = new(1, new SlabPool(), LinkCarrier.Connection), _to = new(2, new SlabPool(), LinkCarrier.Connection);
    private readonly Counter _counter = new();
    private byte[] _frame = [];
    private byte[] _stream = [];
    private long _now;

    [Params(100, 1000)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _frame = new byte[FrameHeader.Size + Size];
        FrameHeader.Write(_frame, FrameType.Data, 1, 1, Size);
        _stream = [.. Enumerable.Repeat(_frame, Frames).SelectMany(frame => frame)];
        _from.Attach(0);
        _to.Attach(0);
    }

    [Benchmark(OperationsPerInvoke = Frames)]
    public int WriteHeaders()
    {
        int at = 0;
        for (int i = 0; i < Frames; i++) at += FrameHeader.Write(_stream.AsSpan(at), FrameType.Data, 1, 1, Size);
        return at;
    }

    [Benchmark(OperationsPerInvoke = Frames)]
    public long ReadHeaders()
    {
        long sum = 0;
        for (int at = 0; FrameHeader.TryRead(_stream.AsSpan(at), out var header); at += (int)header.FrameLength) sum += header.BodyLength;
        return sum;
    }

    [Benchmark]
    public uint Checksum() => Crc32C.Compute(_frame);

    /// <summary>Frames are appended, gathered, parsed at the other end and acknowledged back.</summary>
    [Benchmark(OperationsPerInvoke = Frames)]
    public long ThroughLink()
    {
        for (int i = 0; i < Frames; i++) _from.AppendCopy(_frame);
        _now += LinkSession.AckDelay;
        Carry(_from, _to);
        _now += LinkSession.AckDelay;
        Carry(_to, _from);
        if (_from.Backlog != 0) throw new InvalidOperationException("The link holds back frames.");
        return _counter.Bytes;
    }

    private void Carry(LinkSession from, LinkSession to)
    {
        while (from.HasOutput(_now))
        {
            _wire.ResetWrittenCount();
            if (!from.TryTakeWrite(_wire, _now)) return;
            to.Receive(_wire.WrittenSpan, _counter, _now, out _);
        }
    }

    private sealed class Counter : ILinkSink
    {
        public long Bytes { get; private set; }

        public void OnFrame(LinkSession session, in FrameHeader header, ReadOnlySpan<byte> body) => Bytes += body.Length;
    }
}
