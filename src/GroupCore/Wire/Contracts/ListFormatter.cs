using System.Runtime.InteropServices;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>A list, written without an enumerator.</summary>
internal sealed class ListFormatter<T> : Formatter<List<T>?>
{
    private Formatter<T> _item = null!;

    public override IEnumerable<(string Name, Formatter Part)> Parts => [("[]", _item)];

    public override void Complete(IFormatterSource source) => _item = source.Get<T>("[]");

    public override void Write(ref MessagePackWriter writer, List<T>? value)
    {
        if (value is null) writer.WriteNil();
        else ArrayFormatter<T>.WriteItems(ref writer, _item, CollectionsMarshal.AsSpan(value));
    }

    public override List<T>? Read(ref MessagePackReader reader)
    {
        if (reader.TryReadNil()) return null;
        int count = reader.ReadArrayHeader();
        var list = new List<T>(_item.IsLeaf ? count : Math.Min(count, 16));
        reader.Enter();
        for (; count > 0; count--) list.Add(_item.Read(ref reader));
        reader.Leave();
        return list;
    }
}
