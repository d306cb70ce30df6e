using System.Buffers;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

/// <summary>Nothing is allocated on the hot path beyond the value itself.</summary>
public sealed class WireAllocationTests
{
    private sealed class Sink : IBufferWriter<byte>
    {
        private readonly byte[] _bytes = new byte[4096];
        private int _at;

        public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, _at);

        public void Clear() => _at = 0;

        public void Advance(int count) => _at += count;

        public Memory<byte> GetMemory(int sizeHint = 0) => _bytes.AsMemory(_at);

        public Span<byte> GetSpan(int sizeHint = 0) => _bytes.AsSpan(_at);
    }

    /// <summary>Bytes that one call allocates once all is warm: the least of a few runs, since the runtime may allocate now and then for itself.</summary>
    private static long Allocated(Action action)
    {
        for (int i = 0; i < 50; i++) action();
        long least = long.MaxValue;
        for (int run = 0; run < 5; run++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 100; i++) action();
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }
        return least / 100;
    }

    [Fact]
    public void Writer_and_reader_allocate_nothing()
    {
        var bytes = new byte[512];
        Assert.Equal(0, Allocated(() =>
        {
            var writer = new MessagePackWriter(bytes.AsSpan());
            MessagePackWriterTests.WriteOneOfEach(ref writer);
            var reader = new MessagePackReader(bytes.AsSpan(0, writer.Written));
            if (!reader.TryReadArrayHeader(out int count)) throw new InvalidOperationException();
            reader.TryEnter();
            while (count-- > 0)
                if (!(reader.TryReadInt64(out _) || reader.TryReadUInt64(out _) || reader.TryReadUtf8(out _) || reader.TryReadTimestamp(out _, out _) || reader.TrySkip()))
                    throw new InvalidOperationException();
            reader.Leave();
        }));
    }

    private static void Both<T>(T value, long ofTheValue = 0)
    {
        var sink = new Sink();
        ContractSerializer.Instance.Serialize(sink, value);
        Assert.Equal(0, Allocated(() =>
        {
            sink.Clear();
            ContractSerializer.Instance.Serialize(sink, value);
        }));
        Assert.Equal(ofTheValue, Allocated(() => ContractSerializer.Instance.Deserialize<T>(sink.Written)));
    }

    [Fact]
    public void Values_through_the_serializer_allocate_themselves_only()
    {
        Both(1);
        Both(long.MinValue);
        Both(true);
        Both(1.5);
        Both('x');
        Both(Colour.Blue);
        Both<int?>(5);
        Both((1, 2.5, Colour.Red));
        Both(Guid.Empty);
        Both(12.5m);
        Both(DateTime.UnixEpoch);
        Both(TimeSpan.Zero);
        Both(new KeyValuePair<int, int>(1, 2));
        Both(new Plain { A = 1, B = 2 });
        Both("twelve chars", 22 + 2 * 12 + 2);
        Both(new byte[8], 24 + 8);
        Both(new int[4], 24 + 16);
        Both(new Point(1, 2), 16 + 8);
        Both(new Trade { Symbol = "" }, 8 + 8 + 3 * 8 + 16);
    }

    [Fact]
    public void Keys_allocate_nothing()
    {
        var room = new byte[128];
        Assert.Equal(0, Allocated(() => CanonicalKey.TryWrite(room, "apples", out _)));
        Assert.Equal(0, Allocated(() => CanonicalKey.TryWrite(room, (1, "apples"), out _)));
        Assert.Equal(0, Allocated(() => CanonicalKey.Hash(room, 1)));
    }
}
