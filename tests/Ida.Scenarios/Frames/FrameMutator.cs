using System.Buffers.Binary;
using System.Text;
using GroupCore.Runtime;
using GroupCore.Wire.MessagePack;

namespace Ida.Scenarios;

/// <summary>Damages bodies by their structure: values of MessagePack for frames of the Oracle, little-endian fields at any place for all others.</summary>
internal sealed class FrameMutator(FrameContext context, Prng random)
{
    private const int MostNesting = 20_000;
    private static readonly ulong[] s_extremes = [0, 1, 127, 128, 255, 65_535, int.MaxValue, uint.MaxValue, long.MaxValue, 1UL << 63, ulong.MaxValue - 1, ulong.MaxValue];
    private readonly List<PackedValue> _values = [];

    private readonly string[] _addresses =
    [
        "", "x", ":", "1", "999.1.1.1:1", "127.0.0.1:1", "127.0.0.1:0", "127.0.0.1:99999", "192.0.2.1:9", "0.0.0.0:1", "localhost:1", "[::1]:1", "[fe80::1%1]:80", "::1:80", "sim:1",
        "a.example:80", "127.0.0.1:1\0", "\uFFFD:1", new('9', 128), new('9', 5_000), .. context.Nodes.Select(node => node.Address.Text),
    ];

    /// <summary>The body after the <paramref name="mutation"/>; the same bytes if that does not apply to it.</summary>
    public byte[] Mutate(byte[] body, Mutation mutation, bool packed)
    {
        if (packed) PackedValue.Find(body, _values);
        return mutation switch
        {
            Mutation.Flip when body.Length > 0 => Flip(body),
            Mutation.Cut when body.Length > 0 => body[..random.Next(body.Length)],
            Mutation.Longer => [.. body, .. Noise(1 + random.Next(64))],
            Mutation.Noise => Noise(random.Next(120)),
            Mutation.Field => packed ? Replace(body, MessagePackType.Integer, Number) : Field(body),
            Mutation.Count => packed ? Replace(body, MessagePackType.Array, _ => Count()) : Field(body, narrow: true),
            Mutation.Nest => packed ? Replace(body, null, _ => Nested()) : [.. body, .. Nested()],
            Mutation.Address => packed ? Replace(body, MessagePackType.String, _ => Address()) : body,
            Mutation.Name => packed ? Replace(body, MessagePackType.Integer, _ => Packed(Id())) : Id8(body),
            _ => body,
        };
    }

    public byte[] Noise(int length)
    {
        var bytes = new byte[length];
        bool small = random.Next(2) == 0;
        for (int i = 0; i < length; i++) bytes[i] = (byte)(small ? random.Next(5) : random.Next(256));
        return bytes;
    }

    public ulong Extreme() => s_extremes[random.Next(s_extremes.Length)];

    private byte[] Flip(byte[] body)
    {
        byte[] flipped = [.. body];
        for (int i = random.Next(3); i >= 0; i--) flipped[random.Next(body.Length)] ^= (byte)(1 << random.Next(8));
        return flipped;
    }

    private byte[] Replace(byte[] body, MessagePackType? type, Func<ulong, byte[]> with)
    {
        int matching = type is null ? _values.Count : _values.Count(value => value.Type == type);
        if (matching == 0) return body;
        int chosen = random.Next(matching);
        foreach (var value in _values)
        {
            if ((type is not null && value.Type != type) || chosen-- > 0) continue;
            var reader = new MessagePackReader(body.AsSpan(value.Start, value.Length));
            reader.TryReadUInt64(out ulong number);
            return [.. body[..value.Start], .. with(number), .. body[(value.Start + value.Length)..]];
        }
        return body;
    }

    private byte[] Number(ulong number) => random.Next(4) switch
    {
        0 => Packed(number + 1),
        1 => Packed(number - 1),
        2 => [MessagePackCode.Int64, .. Big(Extreme())],
        _ => Packed(Extreme()),
    };

    private byte[] Count() => random.Next(4) switch
    {
        0 => [MessagePackCode.FixArray | 15],
        1 => [MessagePackCode.FixArray],
        2 => [MessagePackCode.Array16, 0xFF, 0xFF],
        _ => [MessagePackCode.Array32, .. Big(Extreme())[4..]],
    };

    private byte[] Nested()
    {
        var nested = new byte[random.Next(8) == 0 ? MostNesting : 2 + random.Next(130)];
        Array.Fill(nested, random.Next(2) == 0 ? (byte)(MessagePackCode.FixArray | 1) : (byte)(MessagePackCode.FixMap | 1));
        return nested;
    }

    private byte[] Address()
    {
        byte[] utf8 = random.Next(10) == 0 ? Noise(20) : Encoding.UTF8.GetBytes(_addresses[random.Next(_addresses.Length)]);
        return [MessagePackCode.String16, (byte)(utf8.Length >> 8), (byte)utf8.Length, .. utf8];
    }

    private ulong Id() => random.Next(4) == 0 ? random.NextUInt64() : context.Nodes[random.Next(context.Nodes.Count)].Node;

    private byte[] Id8(byte[] body)
    {
        if (body.Length < 8) return body;
        byte[] named = [.. body];
        BinaryPrimitives.WriteUInt64LittleEndian(named.AsSpan(random.Next(body.Length - 7)), Id());
        return named;
    }

    private byte[] Field(byte[] body, bool narrow = false)
    {
        int width = Math.Min(1 << random.Next(narrow ? 2 : 4), body.Length);
        if (width == 0) return body;
        byte[] changed = [.. body];
        // Half of the time in the fixed part, which comes first and matters most.
        int at = random.Next(random.Next(2) == 0 ? body.Length - width + 1 : Math.Min(body.Length - width, 32) + 1);
        var field = changed.AsSpan(at, width);
        var wide = new byte[8];
        field.CopyTo(wide);
        ulong number = BinaryPrimitives.ReadUInt64LittleEndian(wide);
        BinaryPrimitives.WriteUInt64LittleEndian(wide, random.Next(4) switch { 0 => number + 1, 1 => number - 1, _ => Extreme() });
        wide.AsSpan(0, width).CopyTo(field);
        return changed;
    }

    private static byte[] Packed(ulong number) => [MessagePackCode.UInt64, .. Big(number)];

    private static byte[] Big(ulong number)
    {
        var bytes = new byte[8];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, number);
        return bytes;
    }
}
