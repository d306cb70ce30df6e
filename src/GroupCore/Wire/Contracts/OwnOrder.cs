using System.Buffers;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>
/// Collections whose entries come in an order that differs from process to process. The order may follow from hashes (of texts and many other types), from the
/// machine's processors and the thread that came first on each, or from a culture if texts are sorted. They are written in the order of their entries' bytes:
/// each replica runs a resolver by itself, and equal values must have equal bytes.
/// </summary>
internal static class OwnOrder
{
    private static readonly FrozenSet<Type> s_tables = new[]
    {
        typeof(ImmutableHashSet<>), typeof(ImmutableHashSet<>.Builder), typeof(ImmutableDictionary<,>), typeof(ImmutableDictionary<,>.Builder),
        typeof(FrozenSet<>), typeof(FrozenDictionary<,>), typeof(ConcurrentDictionary<,>), typeof(ConcurrentBag<>),
        // Wrappers: any collection may be behind them.
        typeof(ReadOnlySet<>), typeof(ReadOnlyDictionary<,>),
    }.ToFrozenSet();

    // These count only if their keys may hold texts: numbers and times have one order.
    private static readonly FrozenSet<Type> s_sorted = new[]
    {
        typeof(SortedSet<>), typeof(SortedDictionary<,>), typeof(SortedList<,>),
        typeof(ImmutableSortedSet<>), typeof(ImmutableSortedSet<>.Builder), typeof(ImmutableSortedDictionary<,>), typeof(ImmutableSortedDictionary<,>.Builder),
    }.ToFrozenSet();

    private static readonly ConcurrentDictionary<Type, bool> s_known = new();

    /// <summary>Writes one entry.</summary>
    public delegate void Writing<in T>(ref MessagePackWriter writer, T entry);

    /// <summary>Whether values of this type, whatever they are declared as, enumerate their entries in such an order.</summary>
    public static bool Has(Type type) => s_known.GetOrAdd(type, static type =>
    {
        for (Type? one = type; one is not null; one = one.BaseType)
            if (one.IsGenericType && Has(one.GetGenericTypeDefinition(), one.GetGenericArguments()[0])) return true;
        return false;
    });

    /// <summary>
    /// The type by which a collection of this type is sorted. Null for others, and for a type derived from a sorted one, which sets its order when it is made.
    /// </summary>
    public static Type? SortedBy(Type type) => type.IsGenericType && s_sorted.Contains(type.GetGenericTypeDefinition()) ? type.GetGenericArguments()[0] : null;

    private static bool Has(Type table, Type key) => s_tables.Contains(table) || (s_sorted.Contains(table) && (!key.IsValueType || key.IsGenericType));

    /// <summary>Writes the entries in the order of their bytes.</summary>
    public static void Write<T>(ref MessagePackWriter writer, T[] entries, Writing<T> write)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var beside = writer.Beside(bytes);
        var places = new (int Start, int End)[entries.Length];
        for (int i = 0, start = 0; i < entries.Length; start = places[i++].End)
        {
            write(ref beside, entries[i]);
            places[i] = (start, beside.Written);
        }
        beside.Flush();
        var all = bytes.WrittenMemory;
        Array.Sort(places, (x, y) => all.Span[x.Start..x.End].SequenceCompareTo(all.Span[y.Start..y.End]));
        foreach (var (start, end) in places) writer.WriteRaw(all.Span[start..end]);
    }
}
