using System.Collections;
using System.Runtime.CompilerServices;

namespace GroupCore.Wire.Contracts;

/// <summary>
/// The order of tuples with texts in them, where texts are compared by their characters: a tuple's own order follows the culture of the reading process, in which
/// different texts may be equal.
/// </summary>
internal sealed class TextOrder<T> : IComparer<T>, IComparer
{
    /// <summary>The comparer for such tuples; null for other types, which have their own order.</summary>
    public static TextOrder<T>? Instance { get; } = typeof(T) != typeof(string) && ItemOrders.HoldText(typeof(T)) ? new() : null;

    public int Compare(T? x, T? y) => Compare((object?)x, y);

    public int Compare(object? x, object? y) =>
        x is ITuple and IStructuralComparable tuple && y is ITuple ? tuple.CompareTo(y, this)
        : x is string text && y is string other ? string.CompareOrdinal(text, other)
        : x is not null && y is not null && x.GetType() == y.GetType() ? ItemOrders.Of(x.GetType()).Compare(x, y)
        : Comparer.DefaultInvariant.Compare(x, y);
}
