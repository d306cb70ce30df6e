using GroupCore.Wire.MessagePack;

namespace Ida.Scenarios;

/// <summary>One value of a MessagePack text; for an array or a map, its header alone.</summary>
internal readonly record struct PackedValue(int Start, int Length, MessagePackType Type)
{
    /// <summary>All values in their order, as far as the bytes read.</summary>
    public static void Find(ReadOnlySpan<byte> bytes, List<PackedValue> values)
    {
        values.Clear();
        var reader = new MessagePackReader(bytes);
        while (!reader.AtEnd)
        {
            int start = reader.Position;
            var type = reader.NextType;
            bool read = type switch
            {
                MessagePackType.Array => reader.TryReadArrayHeader(out _),
                MessagePackType.Map => reader.TryReadMapHeader(out _),
                _ => reader.TrySkip(),
            };
            if (!read) return;
            values.Add(new(start, reader.Position - start, type));
        }
    }
}
