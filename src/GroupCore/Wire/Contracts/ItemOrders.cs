using System.Collections;
using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace GroupCore.Wire.Contracts;

/// <summary>The orders of types themselves, with which their tuples compare them: many know no other than <see cref="IComparable{T}"/>.</summary>
internal static class ItemOrders
{
    private static readonly ConcurrentDictionary<Type, IComparer> s_known = new();

    public static IComparer Of(Type type) => s_known.GetOrAdd(type, Make);

    [UnconditionalSuppressMessage("AOT", "IL3050", Justification = "The tuple that holds the item was made by reflection too, and has that comparer.")]
    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "The property of the comparer is the base library's.")]
    private static IComparer Make(Type type) => (IComparer)typeof(Comparer<>).MakeGenericType(type).GetProperty(nameof(Comparer<>.Default))!.GetValue(null)!;
}
