using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>A dictionary as a map: in the order of its enumerator, or of its entries' bytes if processes may enumerate it in different orders (<see cref="OwnOrder"/>).</summary>
internal sealed class MapFormatter<T, TKey, TValue>(Func<KeyValuePair<TKey, TValue>[], T> build) : Formatter<T?>
    where T : class, IEnumerable<KeyValuePair<TKey, TValue>>
{
    private Formatter<TKey> _key = null!;
    private Formatter<TValue> _value = null!;

    public override string? NoKey => "may hold equal entries in different orders; use an array or a list.";

    public override IEnumerable<(string Name, Formatter Part)> Parts => [("[key]", _key), ("[]", _value)];

    public override void Complete(IFormatterSource source)
    {
        _key = source.Get<TKey>("[key]");
        _value = source.Get<TValue>("[]");
    }

    public override void Write(ref MessagePackWriter writer, T? value)
    {
        if (value is null)
        {
            writer.WriteNil();
            return;
        }
        if (OwnOrder.Has(value.GetType()))
        {
            var table = value.ToArray();
            writer.Enter(typeof(T));
            writer.WriteMapHeader(table.Length);
            OwnOrder.Write(ref writer, table, WriteEntry);
            writer.Leave();
            return;
        }
        IEnumerable<KeyValuePair<TKey, TValue>> entries = value;
        if (!entries.TryGetNonEnumeratedCount(out int count))
        {
            if (value is IReadOnlyCollection<KeyValuePair<TKey, TValue>> collection) count = collection.Count;
            else
            {
                var copy = value.ToArray();
                entries = copy;
                count = copy.Length;
            }
        }
        writer.Enter(typeof(T));
        writer.WriteMapHeader(count);
        foreach (var entry in entries)
        {
            if (count-- == 0) break;
            WriteEntry(ref writer, entry);
        }
        if (count != 0) throw new InvalidOperationException($"{ContractException.Name(typeof(T))} changed while it was written.");
        writer.Leave();
    }

    public override T? Read(ref MessagePackReader reader)
    {
        if (reader.TryReadNil()) return null;
        int count = reader.ReadMapHeader();
        reader.Enter();
        var entries = new KeyValuePair<TKey, TValue>[_key.IsLeaf && _value.IsLeaf ? count : Math.Min(count, 16)];
        for (int i = 0; i < count; i++)
        {
            if (i == entries.Length) Array.Resize(ref entries, (int)Math.Min(count, 2L * i));
            entries[i] = new(_key.Read(ref reader), _value.Read(ref reader));
        }
        reader.Leave();
        return build(entries);
    }

    private void WriteEntry(ref MessagePackWriter writer, KeyValuePair<TKey, TValue> entry)
    {
        _key.Write(ref writer, entry.Key);
        _value.Write(ref writer, entry.Value);
    }
}
