using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>Turns a drawn operation into one of the calls that do it, each way of the public surface in its turn.</summary>
internal sealed class SurfaceDriver(Prng random, Ingredients ingredients)
{
    public static readonly string[] Lists = ["m", "n"], Values = ["v", "w"];

    public static IDhtMap<string, List<long>> List(Dht dht, string name) => dht.Map<string, List<long>>(name);

    public static IDhtMap<string, string> Value(Dht dht, string name) => dht.Map<string, string>(name);

    public Task<PutResult> Put(Dht dht, IReadOnlyList<SurfacePart> parts, PutOptions? options, CancellationToken cancel)
    {
        var first = parts[0];
        bool alike = parts.All(part => part.Kind == first.Kind && part.Map == first.Map);
        if (!alike || (parts.Count > 1 && random.Next(4) == 0)) return Batch(dht, parts, options, cancel);
        switch (first.Kind)
        {
            case PartKind.Append when parts.Count == 1 && random.Next(2) == 0:
                ingredients.Draw(SurfaceNames.MergeOne);
                return List(dht, first.Map).OrderedMergeAsync(first.Key, first.Element, options, cancel).AsTask();
            case PartKind.Append:
                ingredients.Draw(SurfaceNames.MergeMany);
                return List(dht, first.Map).OrderedMergeAsync(Shape(parts.Select(part => KeyValuePair.Create(part.Key, part.Element))), options, cancel).AsTask();
            case PartKind.Put when parts.Count == 1 && random.Next(2) == 0:
                ingredients.Draw(SurfaceNames.PutOne);
                return Value(dht, first.Map).OrderedPutAsync(first.Key, first.Value, options, cancel).AsTask();
            case PartKind.Put:
                ingredients.Draw(SurfaceNames.PutMany);
                return Value(dht, first.Map).OrderedPutAsync(Shape(parts.Select(part => KeyValuePair.Create(part.Key, (string?)part.Value))), options, cancel).AsTask();
            case PartKind.Remove when random.Next(2) == 0:
                ingredients.Draw(SurfaceNames.PutNull);
                return parts.Count == 1 ? Value(dht, first.Map).OrderedPutAsync(first.Key, null, options, cancel).AsTask()
                    : Value(dht, first.Map).OrderedPutAsync(Shape(parts.Select(part => KeyValuePair.Create(part.Key, (string?)null))), options, cancel).AsTask();
            case PartKind.Remove:
                ingredients.Draw(SurfaceNames.RemoveKeys);
                return Value(dht, first.Map).OrderedRemoveAsync(Shape(parts.Select(part => part.Key)), options, cancel).AsTask();
            default:
                return Batch(dht, parts, options, cancel);
        }
    }

    /// <summary>Reads; absent keys are null.</summary>
    public async Task<List<(long[]? Elements, ulong Version)>> GetAsync(Dht dht, IReadOnlyList<(string Map, string Key)> keys, GetOptions? options, CancellationToken cancel)
    {
        var first = keys[0];
        bool alike = keys.All(key => key.Map == first.Map), lists = Lists.Contains(first.Map);
        if (!alike || (keys.Count > 1 && random.Next(4) == 0)) return await ReadAsync(dht, keys, options, cancel);
        if (keys.Count == 1 && random.Next(4) != 0)
        {
            ingredients.Draw(SurfaceNames.GetOne);
            return lists ? [Of(await List(dht, first.Map).OrderedGetAsync(first.Key, options, cancel))] : [Of(await Value(dht, first.Map).OrderedGetAsync(first.Key, options, cancel))];
        }
        ingredients.Draw(SurfaceNames.GetMany);
        var asked = Shape(keys.Select(key => key.Key));
        if (lists)
        {
            var read = await List(dht, first.Map).OrderedGetAsync(asked, options, cancel);
            return [.. keys.Select(key => Of(read.TryGetValue(key.Key, out var found) ? found : (Versioned<List<long>>?)null))];
        }
        var values = await Value(dht, first.Map).OrderedGetAsync(asked, options, cancel);
        return [.. keys.Select(key => Of(values.TryGetValue(key.Key, out var found) ? found : (Versioned<string>?)null))];
    }

    private Task<PutResult> Batch(Dht dht, IReadOnlyList<SurfacePart> parts, PutOptions? options, CancellationToken cancel)
    {
        var batch = dht.NewBatch(options);
        foreach (var part in parts) Add(dht, batch, part);
        bool lists = parts.Any(part => part.Kind == PartKind.Append), values = parts.Any(part => part.Kind is PartKind.Put or PartKind.Remove);
        ingredients.Draw(parts.Any(part => part.Kind == PartKind.Fail) ? SurfaceNames.BatchThrows : lists && values ? SurfaceNames.BatchMixed : lists ? SurfaceNames.BatchLists : SurfaceNames.BatchValues);
        var committed = batch.CommitAsync(cancel).AsTask();
        Misuse(dht, batch);
        return committed;
    }

    private void Misuse(Dht dht, DhtBatch batch)
    {
        if (random.Next(8) == 0)
        {
            ingredients.Draw(SurfaceNames.CommitTwice);
            Expect.Throws<InvalidOperationException>(() => _ = batch.CommitAsync().AsTask());
        }
        if (random.Next(4) != 0 || !ingredients.Allows(SurfaceNames.AfterCommit)) return;
        ingredients.Draw(SurfaceNames.AfterCommit);
        Expect.Throws<InvalidOperationException>(() => batch.Put(Value(dht, "x"), "late0", "late"));
        Expect.Throws<InvalidOperationException>(() => batch.Remove(Value(dht, "x"), "late0"));
        Expect.Throws<InvalidOperationException>(() => batch.Merge(List(dht, "x"), "late0", 1L));
    }

    private static void Add(Dht dht, DhtBatch batch, SurfacePart part) => _ = part.Kind switch
    {
        PartKind.Append => batch.Merge(List(dht, part.Map), part.Key, part.Element),
        PartKind.Put => batch.Put(Value(dht, part.Map), part.Key, part.Value),
        PartKind.Remove => batch.Remove(Value(dht, part.Map), part.Key),
        _ => batch.Merge(Value(dht, part.Map), part.Key, SurfaceResolvers.Throw),
    };

    private async Task<List<(long[]? Elements, ulong Version)>> ReadAsync(Dht dht, IReadOnlyList<(string Map, string Key)> keys, GetOptions? options, CancellationToken cancel)
    {
        ingredients.Draw(SurfaceNames.Reading);
        var reading = dht.NewReading(options);
        var cells = new List<Func<(long[]?, ulong)>>();
        foreach (var (map, key) in keys)
        {
            if (Lists.Contains(map))
            {
                var cell = reading.Add(List(dht, map), key);
                cells.Add(() => Of(cell.Found ? new(cell.Value!, cell.Version) : (Versioned<List<long>>?)null));
            }
            else
            {
                var cell = reading.Add(Value(dht, map), key);
                cells.Add(() => Of(cell.Found ? new(cell.Value!, cell.Version) : (Versioned<string>?)null));
            }
        }
        var run = reading.RunAsync(cancel);
        if (random.Next(4) == 0)
        {
            ingredients.Draw(SurfaceNames.RunTwice);
            Expect.Throws<InvalidOperationException>(() => _ = reading.RunAsync().AsTask());
        }
        await run;
        return cells.ConvertAll(cell => cell());
    }

    private static (long[]? Elements, ulong Version) Of(Versioned<List<long>>? found) => found is { } list ? ([.. list.Value], list.Version) : (null, 0);

    private static (long[]? Elements, ulong Version) Of(Versioned<string>? found) => found is { } value ? ([SurfacePart.ElementOf(value.Value)], value.Version) : (null, 0);

    // An array, a list, and what is neither take ways of their own.
    private IEnumerable<T> Shape<T>(IEnumerable<T> of) => random.Next(3) switch
    {
        0 => of.ToArray(),
        1 => of.ToList(),
        _ => of.ToList().Where(static _ => true),
    };
}
