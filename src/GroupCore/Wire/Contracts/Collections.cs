using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Runtime.InteropServices;

namespace GroupCore.Wire.Contracts;

/// <summary>The known collections, how each is made from what was read, and whether its order is part of its value.</summary>
[SuppressMessage("Performance", "CA1859", Justification = "The makers are called through reflection and have one type for that.")]
internal static class Collections
{
    private static readonly Dictionary<Type, string> s_makers = new()
    {
        [typeof(List<>)] = nameof(List),
        [typeof(IList<>)] = nameof(IList), [typeof(IReadOnlyList<>)] = nameof(IReadOnlyList),
        [typeof(ICollection<>)] = nameof(ICollection), [typeof(IReadOnlyCollection<>)] = nameof(IReadOnlyCollection), [typeof(IEnumerable<>)] = nameof(IEnumerable),
        [typeof(Queue<>)] = nameof(Queue), [typeof(Stack<>)] = nameof(Stack), [typeof(LinkedList<>)] = nameof(LinkedList),
        [typeof(ConcurrentQueue<>)] = nameof(ConcurrentQueue), [typeof(ConcurrentStack<>)] = nameof(ConcurrentStack), [typeof(ConcurrentBag<>)] = nameof(ConcurrentBag),
        [typeof(Collection<>)] = nameof(Collection), [typeof(ReadOnlyCollection<>)] = nameof(ReadOnlyCollection),
        [typeof(ObservableCollection<>)] = nameof(ObservableCollection), [typeof(ReadOnlyObservableCollection<>)] = nameof(ReadOnlyObservableCollection),
        [typeof(HashSet<>)] = nameof(HashSet), [typeof(SortedSet<>)] = nameof(SortedSet), [typeof(ISet<>)] = nameof(ISet), [typeof(IReadOnlySet<>)] = nameof(IReadOnlySet),
        [typeof(ReadOnlySet<>)] = nameof(ReadOnlySet), [typeof(FrozenSet<>)] = nameof(FrozenSet),
        [typeof(ImmutableArray<>)] = nameof(ImmutableArray), [typeof(ImmutableList<>)] = nameof(ImmutableList), [typeof(IImmutableList<>)] = nameof(IImmutableList),
        [typeof(ImmutableQueue<>)] = nameof(ImmutableQueue), [typeof(IImmutableQueue<>)] = nameof(IImmutableQueue),
        [typeof(ImmutableStack<>)] = nameof(ImmutableStack), [typeof(IImmutableStack<>)] = nameof(IImmutableStack),
        [typeof(ImmutableHashSet<>)] = nameof(ImmutableHashSet), [typeof(IImmutableSet<>)] = nameof(IImmutableSet), [typeof(ImmutableSortedSet<>)] = nameof(ImmutableSortedSet),
        [typeof(Memory<>)] = nameof(Memory), [typeof(ReadOnlyMemory<>)] = nameof(ReadOnlyMemory), [typeof(ArraySegment<>)] = nameof(ArraySegment),
        [typeof(Dictionary<,>)] = nameof(Dictionary), [typeof(IDictionary<,>)] = nameof(IDictionary), [typeof(IReadOnlyDictionary<,>)] = nameof(IReadOnlyDictionary),
        [typeof(SortedDictionary<,>)] = nameof(SortedDictionary), [typeof(SortedList<,>)] = nameof(SortedList), [typeof(OrderedDictionary<,>)] = nameof(OrderedDictionary),
        [typeof(ReadOnlyDictionary<,>)] = nameof(ReadOnlyDictionary), [typeof(ConcurrentDictionary<,>)] = nameof(ConcurrentDictionary),
        [typeof(ImmutableDictionary<,>)] = nameof(ImmutableDictionary), [typeof(IImmutableDictionary<,>)] = nameof(IImmutableDictionary),
        [typeof(ImmutableSortedDictionary<,>)] = nameof(ImmutableSortedDictionary), [typeof(FrozenDictionary<,>)] = nameof(FrozenDictionary),
    };

    [RequiresDynamicCode("Makes generic types."), RequiresUnreferencedCode("Makes generic types.")]
    public static Formatter? Find(Type type)
    {
        if (type.IsArray) return type.IsSZArray ? Make(nameof(Array), type.GetElementType()!) : null;
        if (type.IsGenericType && s_makers.TryGetValue(type.GetGenericTypeDefinition(), out string? maker)) return Make(maker, type.GetGenericArguments());
        if (type.IsAbstract || type.IsValueType || type.GetConstructor(Type.EmptyTypes) is null) return null;
        if (Implemented(type, typeof(IDictionary<,>)) is { } map) return Make(nameof(OtherMap), [type, .. map.GetGenericArguments()]);
        return Implemented(type, typeof(ICollection<>)) is { } collection ? Make(nameof(OtherCollection), [type, .. collection.GetGenericArguments()]) : null;
    }

    [RequiresUnreferencedCode("Looks at interfaces.")]
    private static Type? Implemented(Type type, Type generic) => System.Array.Find(type.GetInterfaces(), i => i.IsGenericType && i.GetGenericTypeDefinition() == generic);

    [RequiresDynamicCode("Makes generic methods."), RequiresUnreferencedCode("Makes generic methods.")]
    private static Formatter Make(string maker, params Type[] types) =>
        (Formatter)typeof(Collections).GetMethod(maker, BindingFlags.NonPublic | BindingFlags.Static)!.MakeGenericMethod(types).Invoke(null, null)!;

    private static SequenceFormatter<TList, T> Ordered<TList, T>(Func<T[], TList> build) where TList : class, IEnumerable<T> => new(build, ordered: true);

    private static SequenceFormatter<TSet, T> Unordered<TSet, T>(Func<T[], TSet> build) where TSet : class, IEnumerable<T> => new(build, ordered: false);

    private static T[] Reversed<T>(T[] items)
    {
        System.Array.Reverse(items);
        return items;
    }

    private static TMap Entries<TMap, TKey, TValue>(TMap map, KeyValuePair<TKey, TValue>[] entries) where TMap : IDictionary<TKey, TValue> where TKey : notnull
    {
        // Sorted first, so that each entry is added at the end: in any other order, such as that of the bytes of texts, each entry would move those after it.
        if (map is SortedList<TKey, TValue> list) System.Array.Sort(entries, (x, y) => list.Comparer.Compare(x.Key, y.Key));
        foreach ((TKey key, TValue value) in entries) map.Add(key, value);
        return map;
    }

    // How sorted collections compare keys: independently of the culture of the process.
    private static IComparer<T>? Sorting<T>() => typeof(T) == typeof(string) ? (IComparer<T>)StringComparer.Ordinal : TextOrder<T>.Instance;

    private static Dictionary<TKey, TValue> Table<TKey, TValue>(int capacity) where TKey : notnull => new(capacity, SpreadComparer<TKey>.Instance);

    // Made without a hash table in between, in which chosen keys could all end up in one chain. The builder accepts a repeated entry: hence the count.
    private static ImmutableDictionary<TKey, TValue> Tree<TKey, TValue>(KeyValuePair<TKey, TValue>[] entries) where TKey : notnull
    {
        var made = Entries(System.Collections.Immutable.ImmutableDictionary.CreateBuilder<TKey, TValue>(), entries).ToImmutable();
        return made.Count == entries.Length ? made : throw new ArgumentException("A key occurs twice.", nameof(entries));
    }

    private static Formatter Array<T>() => new ArrayFormatter<T>();
    private static Formatter List<T>() => new ListFormatter<T>();
    private static Formatter IList<T>() => Ordered<IList<T>, T>(i => new List<T>(i));
    private static Formatter IReadOnlyList<T>() => Ordered<IReadOnlyList<T>, T>(i => i);
    private static Formatter ICollection<T>() => Unordered<ICollection<T>, T>(i => new List<T>(i));
    private static Formatter IReadOnlyCollection<T>() => Unordered<IReadOnlyCollection<T>, T>(i => i);
    private static Formatter IEnumerable<T>() => Unordered<IEnumerable<T>, T>(i => i);
    private static Formatter Queue<T>() => Ordered<Queue<T>, T>(i => new(i));
    private static Formatter Stack<T>() => Ordered<Stack<T>, T>(i => new(Reversed(i)));
    private static Formatter LinkedList<T>() => Ordered<LinkedList<T>, T>(i => new(i));
    private static Formatter ConcurrentQueue<T>() => Ordered<ConcurrentQueue<T>, T>(i => new(i));
    private static Formatter ConcurrentStack<T>() => Ordered<ConcurrentStack<T>, T>(i => new(Reversed(i)));
    private static Formatter ConcurrentBag<T>() => Unordered<ConcurrentBag<T>, T>(i => new(i));
    private static Formatter Collection<T>() => Ordered<Collection<T>, T>(i => new(new List<T>(i)));
    private static Formatter ReadOnlyCollection<T>() => Ordered<ReadOnlyCollection<T>, T>(i => new(i));
    private static Formatter ObservableCollection<T>() => Ordered<ObservableCollection<T>, T>(i => new(i));
    private static Formatter ReadOnlyObservableCollection<T>() => Ordered<ReadOnlyObservableCollection<T>, T>(i => new(new(i)));
    private static Formatter HashSet<T>() => Unordered<HashSet<T>, T>(i => new HashSet<T>(i, SpreadComparer<T>.Instance));
    private static Formatter SortedSet<T>() => Unordered<SortedSet<T>, T>(i => new SortedSet<T>(i, Sorting<T>()));
    private static Formatter ISet<T>() => Unordered<ISet<T>, T>(i => new HashSet<T>(i, SpreadComparer<T>.Instance));
    private static Formatter IReadOnlySet<T>() => Unordered<IReadOnlySet<T>, T>(i => new HashSet<T>(i, SpreadComparer<T>.Instance));
    private static Formatter ReadOnlySet<T>() => Unordered<ReadOnlySet<T>, T>(i => new(new HashSet<T>(i, SpreadComparer<T>.Instance)));
    private static Formatter FrozenSet<T>() => Unordered<FrozenSet<T>, T>(i => i.ToFrozenSet());
    private static Formatter ImmutableArray<T>() => new AdaptedFormatter<ImmutableArray<T>, T[]?>(ImmutableCollectionsMarshal.AsArray, ImmutableCollectionsMarshal.AsImmutableArray);
    private static Formatter ImmutableList<T>() => Ordered<ImmutableList<T>, T>(i => [.. i]);
    private static Formatter IImmutableList<T>() => Ordered<IImmutableList<T>, T>(i => System.Collections.Immutable.ImmutableList.Create(i));
    private static Formatter ImmutableQueue<T>() => Ordered<ImmutableQueue<T>, T>(i => [.. i]);
    private static Formatter IImmutableQueue<T>() => Ordered<IImmutableQueue<T>, T>(i => System.Collections.Immutable.ImmutableQueue.Create(i));
    private static Formatter ImmutableStack<T>() => Ordered<ImmutableStack<T>, T>(i => System.Collections.Immutable.ImmutableStack.Create(Reversed(i)));
    private static Formatter IImmutableStack<T>() => Ordered<IImmutableStack<T>, T>(i => System.Collections.Immutable.ImmutableStack.Create(Reversed(i)));
    private static Formatter ImmutableHashSet<T>() => Unordered<ImmutableHashSet<T>, T>(i => System.Collections.Immutable.ImmutableHashSet.Create(i));
    private static Formatter IImmutableSet<T>() => Unordered<IImmutableSet<T>, T>(i => System.Collections.Immutable.ImmutableHashSet.Create(i));
    private static Formatter ImmutableSortedSet<T>() => Unordered<ImmutableSortedSet<T>, T>(i => System.Collections.Immutable.ImmutableSortedSet.Create(Sorting<T>(), i));
    private static Formatter Memory<T>() => new AdaptedFormatter<Memory<T>, T[]>(m => m.ToArray(), i => i);
    private static Formatter ReadOnlyMemory<T>() => new AdaptedFormatter<ReadOnlyMemory<T>, T[]>(m => m.ToArray(), i => i);
    private static Formatter ArraySegment<T>() => new AdaptedFormatter<ArraySegment<T>, T[]?>(m => m.Array is null ? null : [.. m], i => i is null ? default : new(i));

    private static Formatter Dictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<Dictionary<TKey, TValue>, TKey, TValue>(e => Entries(Table<TKey, TValue>(e.Length), e));

    private static Formatter IDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<IDictionary<TKey, TValue>, TKey, TValue>(e => Entries(Table<TKey, TValue>(e.Length), e));

    private static Formatter IReadOnlyDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<IReadOnlyDictionary<TKey, TValue>, TKey, TValue>(e => Entries(Table<TKey, TValue>(e.Length), e));

    private static Formatter SortedDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<SortedDictionary<TKey, TValue>, TKey, TValue>(e => Entries(new SortedDictionary<TKey, TValue>(Sorting<TKey>()), e));

    private static Formatter SortedList<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<SortedList<TKey, TValue>, TKey, TValue>(e => Entries(new SortedList<TKey, TValue>(e.Length, Sorting<TKey>()), e));

    private static Formatter OrderedDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<OrderedDictionary<TKey, TValue>, TKey, TValue>(e => Entries(new OrderedDictionary<TKey, TValue>(e.Length, SpreadComparer<TKey>.Instance), e));

    private static Formatter ReadOnlyDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<ReadOnlyDictionary<TKey, TValue>, TKey, TValue>(e => new(Entries(Table<TKey, TValue>(e.Length), e)));

    private static Formatter ConcurrentDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<ConcurrentDictionary<TKey, TValue>, TKey, TValue>(e => Entries(new ConcurrentDictionary<TKey, TValue>(), e));

    private static Formatter ImmutableDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<ImmutableDictionary<TKey, TValue>, TKey, TValue>(e => Tree(e));

    private static Formatter IImmutableDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<IImmutableDictionary<TKey, TValue>, TKey, TValue>(e => Tree(e));

    private static Formatter ImmutableSortedDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<ImmutableSortedDictionary<TKey, TValue>, TKey, TValue>(e => Entries(new SortedDictionary<TKey, TValue>(Sorting<TKey>()), e).ToImmutableSortedDictionary(Sorting<TKey>()));

    private static Formatter FrozenDictionary<TKey, TValue>() where TKey : notnull =>
        new MapFormatter<FrozenDictionary<TKey, TValue>, TKey, TValue>(e => Entries(new Dictionary<TKey, TValue>(), e).ToFrozenDictionary());

    private static Formatter OtherMap<TMap, TKey, TValue>() where TMap : class, IDictionary<TKey, TValue>, new() where TKey : notnull =>
        new MapFormatter<TMap, TKey, TValue>(e => Entries(new TMap(), e));

    private static Formatter OtherCollection<TCollection, T>() where TCollection : class, ICollection<T>, new() =>
        Unordered<TCollection, T>(items =>
        {
            var made = new TCollection();
            foreach (T item in items) made.Add(item);
            return made;
        });
}
