using System.Collections;
using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace GroupCore.Wire.Contracts;

/// <summary>The default comparer of each type, by which the items of tuples are compared: many types implement only <see cref="IComparable{T}"/>.</summary>
internal static class ItemOrders
{
    private static readonly ConcurrentDictionary<Type, IComparer> s_known = new();

    public static IComparer Of(Type type) => s_known.GetOrAdd(type, Make);

    /// <summary>Whether values of a type can be sorted without a user's comparer.</summary>
    [RequiresDynamicCode("Makes generic types.")]
    public static bool Has(Type type) => Has(type, HoldText(type));

    /// <summary>Whether values of a type are texts, or tuples with texts in them.</summary>
    public static bool HoldText(Type type) => type == typeof(string)
        || ((type.IsAssignableTo(typeof(ITuple)) || Nullable.GetUnderlyingType(type) is not null) && Array.Exists(type.GetGenericArguments(), HoldText));

    // A tuple that is an object (System.Tuple) and has no texts in it compares its items only by the untyped IComparable.
    [RequiresDynamicCode("Makes generic types.")]
    private static bool Has(Type type, bool withText) =>
        Nullable.GetUnderlyingType(type) is { } value ? Has(value, withText)
        : type.IsAssignableTo(typeof(ITuple)) && type.Namespace == "System"
            ? Array.TrueForAll(type.GetGenericArguments(), item => Has(item, withText) && (withText || type.IsValueType || (Nullable.GetUnderlyingType(item) ?? item).IsAssignableTo(typeof(IComparable))))
        : type.IsAssignableTo(typeof(IComparable)) || type.IsAssignableTo(typeof(IComparable<>).MakeGenericType(type));

    [UnconditionalSuppressMessage("AOT", "IL3050", Justification = "The tuple that holds the item was made by reflection too, and has that comparer.")]
    private static IComparer Make(Type type) => (IComparer)typeof(Comparer<>).MakeGenericType(type).GetProperty(nameof(Comparer<>.Default))!.GetValue(null)!;
}
