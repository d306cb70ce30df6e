using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>An array, item by item.</summary>
internal sealed class ArrayFormatter<T> : Formatter<T[]?>
{
    /// <summary>
    /// Items for which room is made on the word of a header alone. A header never promises more items than there are bytes behind it, but each of up to 64 open
    /// arrays around it may promise as many. So arrays of anything that nests grow as items are read.
    /// </summary>
    private const int FirstRoom = 64;

    private Formatter<T> _item = null!;

    public override IEnumerable<(string Name, Formatter Part)> Parts => [("[]", _item)];

    public override void Complete(IFormatterSource source) => _item = source.Get<T>("[]");

    public override void Write(ref MessagePackWriter writer, T[]? value)
    {
        if (value is null) writer.WriteNil();
        else WriteItems(ref writer, _item, value);
    }

    public override T[]? Read(ref MessagePackReader reader) => reader.TryReadNil() ? null : ReadItems(ref reader, _item);

    internal static void WriteItems(ref MessagePackWriter writer, Formatter<T> item, ReadOnlySpan<T> values)
    {
        writer.Enter(typeof(T[]));
        writer.WriteArrayHeader(values.Length);
        foreach (T value in values) item.Write(ref writer, value);
        writer.Leave();
    }

    internal static T[] ReadItems(ref MessagePackReader reader, Formatter<T> item)
    {
        int count = reader.ReadArrayHeader();
        if (count == 0) return [];
        reader.Enter();
        var items = new T[item.IsLeaf ? count : Math.Min(count, FirstRoom)];
        for (int i = 0; i < count; i++)
        {
            if (i == items.Length) Array.Resize(ref items, (int)Math.Min(count, 2L * i));
            items[i] = item.Read(ref reader);
        }
        reader.Leave();
        return items;
    }
}
