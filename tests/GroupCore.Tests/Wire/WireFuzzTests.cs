using GroupCore.Runtime;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

/// <summary>
/// Hostile bytes: random ones, valid ones cut off, with flipped bits, and with lengths that promise too much. Readers return false or
/// throw <see cref="InvalidDataException"/>, and never allocate out of proportion to what they were given.
/// </summary>
public sealed class WireFuzzTests
{
    private const int Rounds = 4_000;

    private static byte[] Valid(Prng random)
    {
        var bytes = new byte[4096];
        var writer = new MessagePackWriter(bytes.AsSpan());
        WriteAny(ref writer, random, 0);
        return bytes[..writer.Written];
    }

    private static void WriteAny(ref MessagePackWriter writer, Prng random, int depth)
    {
        switch (random.Next(depth > 4 ? 9 : 11))
        {
            case 0: writer.WriteNil(); break;
            case 1: writer.WriteBoolean(random.Chance(0.5)); break;
            case 2: writer.WriteInt((long)random.NextUInt64() >> random.Next(64)); break;
            case 3: writer.WriteUInt(random.NextUInt64()); break;
            case 4: writer.WriteDouble(random.NextDouble()); break;
            case 5: writer.WriteString(new string('é', random.Next(40))); break;
            case 6: writer.WriteBinary(new byte[random.Next(40)]); break;
            case 7: writer.WriteTimestamp(random.Next(-100, 100), random.Next(1000)); break;
            case 8: writer.WriteExtension((sbyte)random.Next(100), new byte[random.Next(20)]); break;
            case 9:
                int items = random.Next(5);
                writer.WriteArrayHeader(items);
                for (int i = 0; i < items; i++) WriteAny(ref writer, random, depth + 1);
                break;
            default:
                int entries = random.Next(4);
                writer.WriteMapHeader(entries);
                for (int i = 0; i < 2 * entries; i++) WriteAny(ref writer, random, depth + 1);
                break;
        }
    }

    private static byte[] Hostile(Prng random, byte[] valid)
    {
        byte[] bytes = [.. valid];
        switch (random.Next(4))
        {
            case 0:
                bytes = new byte[random.Next(200)];
                for (int i = 0; i < bytes.Length; i++) bytes[i] = (byte)random.NextUInt64();
                return bytes;
            case 1:
                return bytes[..random.Next(bytes.Length + 1)];
            case 2:
                for (int flips = random.Next(4) + 1; flips > 0 && bytes.Length > 0; flips--) bytes[random.Next(bytes.Length)] ^= (byte)(1 << random.Next(8));
                return bytes;
            default:
                byte[] header = [(byte)(0xC4 + random.Next(0xE0 - 0xC4)), (byte)random.NextUInt64(), (byte)random.NextUInt64(), (byte)random.NextUInt64(), (byte)random.NextUInt64()];
                int at = random.Next(bytes.Length + 1);
                return [.. bytes[..at], .. header, .. bytes[at..]];
        }
    }

    /// <summary>Calls every method of the reader at every value; says how far it came.</summary>
    private static int ReadAll(ReadOnlySpan<byte> bytes)
    {
        var reader = new MessagePackReader(bytes);
        while (!reader.AtEnd)
        {
            int before = reader.Position;
            var trial = reader;
            if (!trial.TryReadRaw(out var raw)) raw = default;
            Assert.True(raw.Length <= bytes.Length - before);
            bool read = reader.TryReadNil() || reader.TryReadBoolean(out _) || reader.TryReadByte(out _) || reader.TryReadUInt16(out _) || reader.TryReadUInt32(out _)
                || reader.TryReadInt32(out _) || reader.TryReadInt64(out _) || reader.TryReadUInt64(out _) || reader.TryReadSingle(out _) || reader.TryReadDouble(out _)
                || reader.TryReadUtf8(out _) || reader.TryReadBinary(out _) || reader.TryReadTimestamp(out _, out _) || reader.TryReadExtension(out _, out _);
            if (!read && reader.TryReadArrayHeader(out int count))
            {
                read = true;
                Assert.InRange(count, 0, reader.Remaining);
            }
            if (!read && reader.TryReadMapHeader(out count))
            {
                read = true;
                Assert.InRange(count, 0, reader.Remaining / 2);
            }
            if (!read)
            {
                Assert.Equal(before, reader.Position);
                break;
            }
            Assert.InRange(reader.Position, before + 1, bytes.Length);
        }
        return reader.Position;
    }

    [Theory]
    [InlineData(1), InlineData(2), InlineData(3)]
    public void The_reader_never_throws_leaves_its_bytes_or_stands_still(ulong seed)
    {
        var random = new Prng(seed);
        for (int i = 0; i < Rounds; i++)
        {
            byte[] valid = Valid(random);
            Assert.Equal(valid.Length, ReadAll(valid));
            var whole = new MessagePackReader(valid);
            Assert.True(whole.TrySkip() && whole.AtEnd);
            ReadAll(Hostile(random, valid));
        }
    }

    private static void Feed<T>(Prng random, params T[] values)
    {
        foreach (T value in values)
        {
            byte[] valid = ContractSerializerTests.Bytes(value);
            ContractSerializerTests.Back<T>(valid);
            for (int i = 0; i < Rounds / 4; i++)
            {
                byte[] bytes = Hostile(random, valid);
                // The first call may make the runtime load what the second call need not.
                if (!Proportional<T>(bytes)) Assert.True(Proportional<T>(bytes), $"{typeof(T)}: {Convert.ToHexString(bytes)}");
            }
        }
    }

    private static bool Proportional<T>(byte[] bytes)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        try
        {
            ContractSerializer.Instance.Deserialize<T>(bytes);
            return GC.GetAllocatedBytesForCurrentThread() - before <= 64 * bytes.Length + 2048;
        }
        catch (InvalidDataException)
        {
            // An exception with its message and stack is a few KiB itself.
            return GC.GetAllocatedBytesForCurrentThread() - before <= 64 * bytes.Length + 40_000;
        }
    }

    [Theory]
    [InlineData(1), InlineData(2)]
    public void The_serializer_throws_nothing_else_and_allocates_in_proportion(ulong seed)
    {
        var random = new Prng(seed);
        Feed(random, "some text that is longer than a header");
        Feed(random, new byte[100]);
        Feed<int[]>(random, [1, 2, 3, 1000, 100_000]);
        Feed<List<string>>(random, ["a", "b", "ccc"]);
        Feed(random, new Dictionary<string, long> { ["a"] = 1, ["b"] = long.MaxValue });
        Feed(random, 12.5m);
        Feed(random, Guid.Empty);
        Feed(random, DateTime.UnixEpoch, DateTime.MaxValue);
        Feed(random, DateTimeOffset.UnixEpoch);
        Feed(random, new Version(1, 2));
        Feed(random, new Uri("http://a/b"));
        Feed(random, System.Numerics.BigInteger.Pow(10, 50));
        Feed(random, (1, "b", 2.5));
        Feed(random, new Point(1, 2));
        Feed(random, new Checked(5) { Note = "n" });
        Feed(random, new Trade { Symbol = "IBM", Lots = [1, 2] });
        Feed(random, new Tree { Children = [new() { Children = [new()] }, new()] });
        Feed(random, new Everything(true, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 'c', "d", [1], Guid.Empty, DateTime.UnixEpoch, default, Colour.Red, 1, new(1, 1), ["x"],
            new() { ["y"] = 1 }, (1, "z"), [1, 2]));
    }

    [Fact]
    public void Promises_at_every_depth_make_no_room()
    {
        // Each of 30 nested lists, 60 levels with the maps around them, promises nearly as many items as bytes follow.
        byte[] bytes = new byte[1_000_000];
        var writer = new MessagePackWriter(bytes.AsSpan());
        for (int depth = 0; depth < 30; depth++)
        {
            writer.WriteMapHeader(1);
            writer.WriteString("Children");
            writer.WriteArrayHeader(900_000);
        }
        Assert.Throws<InvalidDataException>(() => ContractSerializerTests.Back<Tree>(bytes));
        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Throws<InvalidDataException>(() => ContractSerializerTests.Back<Tree>(bytes));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 100_000);
    }

    [Theory]
    [InlineData(7)]
    public void Frame_headers_of_any_bytes_are_read_and_judged(ulong seed)
    {
        var random = new Prng(seed);
        var bytes = new byte[FrameHeader.Size];
        for (int i = 0; i < Rounds; i++)
        {
            for (int b = 0; b < bytes.Length; b++) bytes[b] = (byte)random.NextUInt64();
            Assert.True(FrameHeader.TryRead(bytes, out FrameHeader header));
            if (!header.IsWithin(1 << 20)) continue;
            Assert.InRange(header.FrameLength, FrameHeader.Size, 1 << 20);
            Assert.InRange(header.BodyLength, 0, (1 << 20) - FrameHeader.Size);
        }
        Assert.False(FrameHeader.TryRead(bytes.AsSpan(1), out _));
    }
}
