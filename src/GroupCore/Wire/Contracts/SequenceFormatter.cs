using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>
/// Any other collection as an array: in the order of its enumerator, or of its items' bytes if processes may enumerate it in different orders (<see cref="OwnOrder"/>).
/// </summary>
internal sealed class SequenceFormatter<T, TItem>(Func<TItem[], T> build, bool ordered) : Formatter<T?>
    where T : class, IEnumerable<TItem>
{
    private Formatter<TItem> _item = null!;

    public override string? NoKey => ordered ? null : "may hold equal values in different orders; use an array or a list.";

    public override IEnumerable<(string Name, Formatter Part)> Parts => [("[]", _item)];

    public override void Complete(IFormatterSource source) => _item = source.Get<TItem>("[]");

    public override void Write(ref MessagePackWriter writer, T? value)
    {
        if (value is null)
        {
            writer.WriteNil();
            return;
        }
        if (value is TItem[] array)
        {
            ArrayFormatter<TItem>.WriteItems(ref writer, _item, array);
            return;
        }
        if (!ordered && OwnOrder.Has(value.GetType()))
        {
            var items = value.ToArray();
            writer.Enter(typeof(T));
            writer.WriteArrayHeader(items.Length);
            OwnOrder.Write(ref writer, items, _item.Write);
            writer.Leave();
            return;
        }
        if (!Counted(value, out int count))
        {
            ArrayFormatter<TItem>.WriteItems(ref writer, _item, value.ToArray());
            return;
        }
        writer.Enter(typeof(T));
        writer.WriteArrayHeader(count);
        foreach (TItem item in value)
        {
            if (count-- == 0) break;
            _item.Write(ref writer, item);
        }
        if (count != 0) throw new InvalidOperationException($"{ContractException.Name(typeof(T))} changed while it was written.");
        writer.Leave();
    }

    public override T? Read(ref MessagePackReader reader) => reader.TryReadNil() ? null : build(ArrayFormatter<TItem>.ReadItems(ref reader, _item));

    private static bool Counted(IEnumerable<TItem> value, out int count)
    {
        if (value.TryGetNonEnumeratedCount(out count)) return true;
        if (value is not IReadOnlyCollection<TItem> collection) return false;
        count = collection.Count;
        return true;
    }
}
