using System.Buffers;
using GroupCore.Groups.Buffers;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>Turns a drawn operation into one of the calls that do it, each way of the public surface in its turn.</summary>
/// <param name="random">Draws the ways.</param>
/// <param name="conditions">Draws what is done about expectations.</param>
/// <param name="ingredients">What was drawn.</param>
/// <param name="ledger">Is told of misuse that was refused.</param>
internal sealed class SurfaceDriver(Prng random, Prng conditions, Ingredients ingredients, SurfaceLedger ledger)
{
    public static readonly string[] Lists = ["m", "n"], Values = ["v", "w"];

    /// <summary>The map whose keys are placed by <see cref="ShardKeyOf"/>.</summary>
    public const string Placed = "w";

    public static string ShardKeyOf(string key) => key[^Math.Min(key.Length, 1)..];

    public static DhtMap<string, List<long>> List(Dht dht, string name) => dht.Map<string, List<long>>(name);

    public static DhtMap<string, string> Value(Dht dht, string name) => dht.Map<string, string>(name);

    /// <summary>Executes the parts by one of the calls that can. A part that is <paramref name="alone"/> takes one of the calls that tell what became of it.</summary>
    public (CallKind Kind, Task<SurfaceTold> Task) Put(Dht dht, IReadOnlyList<SurfacePart> parts, PutOptions? options, bool alone, CancellationToken cancel)
    {
        var kind = KindOf(parts);
        var call = Started(() => kind == CallKind.Commit ? Batch(dht, parts, options, cancel) : kind == CallKind.Change ? Change(dht, parts[0], options, cancel) : Alike(dht, parts, options, alone, cancel));
        return (options?.Operation is null ? kind : CallKind.Retry, call);
    }

    private CallKind KindOf(IReadOnlyList<SurfacePart> parts)
    {
        var first = parts[0];
        bool alike = parts.All(part => part.Kind == first.Kind && part.Map == first.Map);
        // A removal of an absent key tells only that it was absent: whether a condition was met is then asked in a batch.
        if (parts.Any(static part => part.Expected is not null)) return parts.Count == 1 && first is { Kind: PartKind.Put } or { Kind: PartKind.Remove, Expected: > 0 } && random.Next(3) != 0 ? CallKind.Change : CallKind.Commit;
        if (!alike || first.Kind is PartKind.Fail or PartKind.Check || (parts.Count > 1 && random.Next(4) == 0)) return CallKind.Commit;
        return first.Kind == PartKind.Append ? CallKind.Merge : CallKind.Put;
    }

    // A refusal may come as an exception of the call itself.
    private static Task<SurfaceTold> Started(Func<Task<SurfaceTold>> call)
    {
        try
        {
            return call();
        }
        catch (Exception error) when (error is not ScenarioFailedException)
        {
            return Task.FromException<SurfaceTold>(error);
        }
    }

    // All pairs of one map and kind.
    private Task<SurfaceTold> Alike(Dht dht, IReadOnlyList<SurfacePart> parts, PutOptions? options, bool alone, CancellationToken cancel)
    {
        var first = parts[0];
        switch (first.Kind)
        {
            case PartKind.Append when parts.Count == 1 && (alone || random.Next(2) == 0):
                ingredients.Draw(SurfaceNames.MergeOne);
                return Merged(List(dht, first.Map).MergeAsync(first.Key, first.Element, options, cancel).AsTask(), first.Element);
            case PartKind.Append:
                ingredients.Draw(SurfaceNames.MergeMany);
                return SurfaceTold.Of(List(dht, first.Map).MergeAsync(Shape(parts.Select(part => KeyValuePair.Create(part.Key, part.Element))), options, cancel));
            case PartKind.Put when parts.Count == 1 && random.Next(2) == 0:
                ingredients.Draw(SurfaceNames.PutOne);
                return SurfaceTold.Of(Value(dht, first.Map).PutAsync(first.Key, first.Value, options, cancel));
            case PartKind.Put:
                ingredients.Draw(SurfaceNames.PutMany);
                return SurfaceTold.Of(Value(dht, first.Map).PutAsync(Shape(parts.Select(part => KeyValuePair.Create(part.Key, (string?)part.Value))), options, cancel));
            case PartKind.Remove when !alone && random.Next(2) == 0:
                ingredients.Draw(SurfaceNames.PutNull);
                return SurfaceTold.Of(parts.Count == 1 ? Value(dht, first.Map).PutAsync(first.Key, null, options, cancel)
                    : Value(dht, first.Map).PutAsync(Shape(parts.Select(part => KeyValuePair.Create(part.Key, (string?)null))), options, cancel));
            case PartKind.Remove when parts.Count == 1 && (alone || random.Next(2) == 0):
                ingredients.Draw(SurfaceNames.RemoveOne);
                return Removed(Value(dht, first.Map).RemoveAsync(first.Key, options, cancel).AsTask());
            default:
                ingredients.Draw(SurfaceNames.RemoveKeys);
                return SurfaceTold.Of(Value(dht, first.Map).RemoveAsync(Shape(parts.Select(part => part.Key)), options, cancel));
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
            return lists ? [Of(await List(dht, first.Map).GetAsync(first.Key, options, cancel))] : [Of(await Value(dht, first.Map).GetAsync(first.Key, options, cancel))];
        }
        ingredients.Draw(SurfaceNames.GetMany);
        var asked = Shape(keys.Select(key => key.Key));
        if (lists)
        {
            var read = await List(dht, first.Map).GetAsync(asked, options, cancel);
            return [.. keys.Select(key => Of(read.Find(key.Key)))];
        }
        var values = await Value(dht, first.Map).GetAsync(asked, options, cancel);
        return [.. keys.Select(key => Of(values.Find(key.Key)))];
    }

    /// <summary>The shard of a pair's key.</summary>
    public static int ShardOf(Dht dht, in SurfacePart part)
    {
        var key = new PayloadBuffer();
        CanonicalKey.Write(key, part.Map == Placed ? ShardKeyOf(part.Key) : part.Key);
        return dht.Layer.Places.ShardOf(dht.Layer.Places.Hash(key.Written));
    }

    // One key, and a version that it must have.
    private Task<SurfaceTold> Change(Dht dht, SurfacePart part, PutOptions? options, CancellationToken cancel)
    {
        var map = Value(dht, part.Map);
        ulong expected = part.Expected!.Value;
        switch (part.Kind)
        {
            case PartKind.Put when expected == 0 && random.Next(2) == 0:
                ingredients.Draw(SurfaceNames.TryAdd);
                return Changed(map.TryAddAsync(part.Key, part.Value, options, cancel).AsTask());
            case PartKind.Put:
                ingredients.Draw(SurfaceNames.TryReplace);
                return Changed(map.TryReplaceAsync(part.Key, part.Value, expected, options, cancel).AsTask());
            default:
                ingredients.Draw(SurfaceNames.TryRemove);
                return Changed(map.TryRemoveAsync(part.Key, expected, options, cancel).AsTask());
        }
    }

    private static async Task<SurfaceTold> Changed(Task<bool> call) => new(await call, null, default);

    private static async Task<SurfaceTold> Removed(Task<bool> call) => new(true, null, default) { WasThere = await call };

    private static async Task<SurfaceTold> Merged(Task<List<long>?> call, long element)
    {
        var list = await call;
        return list?[^1] == element ? new(true, null, default) { Before = [.. list.SkipLast(1)] } : throw new ScenarioFailedException($"A merge of {element} was told that {string.Join(' ', list ?? [])} is stored.");
    }

    private Task<SurfaceTold> Batch(Dht dht, IReadOnlyList<SurfacePart> parts, PutOptions? options, CancellationToken cancel)
    {
        var batch = dht.NewBatch(options);
        foreach (var part in parts)
        {
            bool before = part.Expected is not null && random.Next(2) == 0;
            if (before) Expects(dht, batch, part);
            if (part.Kind != PartKind.Check) Add(dht, batch, part);
            if (part.Expected is null || (before && conditions.Next(8) != 0)) continue;
            if (before) ingredients.Draw(SurfaceNames.ExpectTwice);
            Expects(dht, batch, part);
        }
        Draw(parts);
        var committed = SurfaceTold.Of(batch.CommitAsync(cancel));
        Misuse(dht, batch);
        return committed;
    }

    private static void Expects(Dht dht, DhtBatch batch, SurfacePart part) => _ = Lists.Contains(part.Map) ? batch.Expect(List(dht, part.Map), part.Key, part.Expected!.Value) : batch.Expect(Value(dht, part.Map), part.Key, part.Expected!.Value);

    private void Draw(IReadOnlyList<SurfacePart> parts)
    {
        bool lists = parts.Any(static part => part.Kind == PartKind.Append), values = parts.Any(static part => part.Kind is PartKind.Put or PartKind.Remove), fails = parts.Any(static part => part.Kind == PartKind.Fail);
        if (!parts.Any(static part => part.Expected is not null))
        {
            ingredients.Draw(fails ? SurfaceNames.BatchThrows : lists && values ? SurfaceNames.BatchMixed : lists ? SurfaceNames.BatchLists : SurfaceNames.BatchValues);
            return;
        }
        ingredients.Draw(SurfaceNames.BatchExpects);
        if (lists) ingredients.Draw(SurfaceNames.ExpectAndMerge);
        if (fails) ingredients.Draw(SurfaceNames.ExpectAndThrow);
        if (parts.Any(static part => part.Expected is not null && Lists.Contains(part.Map))) ingredients.Draw(SurfaceNames.ExpectOfList);
        if (parts.Count(static part => part.Expected is not null) > 1) ingredients.Draw(SurfaceNames.ExpectSeveral);
        if (parts.All(static part => part.Kind == PartKind.Check)) ingredients.Draw(SurfaceNames.ExpectOnly);
    }

    private void Misuse(Dht dht, DhtBatch batch)
    {
        if (random.Next(8) == 0)
        {
            ingredients.Draw(SurfaceNames.CommitTwice);
            ledger.Refused<InvalidOperationException>(CallKind.Commit, SurfaceNames.CommitTwice, () => _ = batch.CommitAsync().AsTask());
        }
        if (random.Next(4) != 0 || !ingredients.Allows(SurfaceNames.AfterCommit)) return;
        ingredients.Draw(SurfaceNames.AfterCommit);
        Expect.Throws<InvalidOperationException>(() => batch.Put(Value(dht, "x"), "late0", "late"));
        Expect.Throws<InvalidOperationException>(() => batch.Remove(Value(dht, "x"), "late0"));
        Expect.Throws<InvalidOperationException>(() => batch.Merge(List(dht, "m"), "late0", 1L));
        Expect.Throws<InvalidOperationException>(() => batch.Expect(Value(dht, "x"), "late0", 1));
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
                cells.Add(() => Of(cell.Entry));
            }
            else
            {
                var cell = reading.Add(Value(dht, map), key);
                cells.Add(() => Of(cell.Entry));
            }
        }
        var run = reading.RunAsync(cancel);
        if (random.Next(4) == 0)
        {
            ingredients.Draw(SurfaceNames.RunTwice);
            ledger.Refused<InvalidOperationException>(CallKind.Get, SurfaceNames.RunTwice, () => _ = reading.RunAsync().AsTask());
        }
        await run;
        return cells.ConvertAll(cell => cell());
    }

    private static (long[]? Elements, ulong Version) Of(Entry<List<long>> entry) => entry.Found ? ([.. entry.Value], entry.Version) : (null, 0);

    private static (long[]? Elements, ulong Version) Of(Entry<string> entry) => entry.Found ? ([SurfacePart.ElementOf(entry.Value)], entry.Version) : (null, 0);

    // The library takes arrays, lists and other sequences in different ways.
    private IEnumerable<T> Shape<T>(IEnumerable<T> of) => random.Next(3) switch
    {
        0 => of.ToArray(),
        1 => of.ToList(),
        _ => of.ToList().Where(static _ => true),
    };
}
