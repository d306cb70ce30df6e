using GroupCore.Runtime;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>What a careless program asks of maps: names that nobody has declared, other types, keys that its own code cannot place, and what only some members declare.</summary>
internal sealed class SurfaceMaps(DhtWorld world, Prng random, Ingredients ingredients, SurfaceLedger ledger)
{
    /// <summary>Part of the message about a call that was executed though some member lacks what it uses.</summary>
    public const string ExecutedThoughLacked = "lacks was executed";

    public void Step()
    {
        if (random.Next(60) != 0) return;
        var able = world.Members.FindAll(m => m.Alive && m.Dht is not null && m.Host.Current is { IsOver: false, State.Map: not null } && !world.IsStalled(m));
        if (able.Count == 0) return;
        var member = able[random.Next(able.Count)];
        if (random.Next(4) == 0) Misuse(member.Dht);
        else if (random.Next(8) == 0) PlaceCarelessly(member);
        else if (member.Dht.Maps.Named(SurfaceResolvers.Extra) is null) Expect.Throws<NoResolverException>(() => _ = SurfaceDriver.Value(member.Dht, "x").MergeAsync("e0", true).AsTask());
        else UseExtra(member);
        member.Turn(static () => { });
    }

    private void Misuse(Dht dht)
    {
        ingredients.Draw(SurfaceNames.NotDeclared);
        var undeclared = Expect.Throws<UndeclaredMapException>(() => SurfaceDriver.Value(dht, "nobody's"));
        if (!undeclared.Declared.Contains("x", StringComparer.Ordinal)) throw new ScenarioFailedException($"A map that is declared is not named: {undeclared.Message}");
        Expect.Throws<MapTypeException>(() => SurfaceDriver.List(dht, "x"));
    }

    private void PlaceCarelessly(HarnessMember member)
    {
        switch (random.Next(3))
        {
            case 0:
                RefuseThrowing(member);
                break;
            case 1:
                ingredients.Draw(SurfaceNames.ShardKeyThrowsLate);
                int own = member.Host.Current!.State.Shard;
                var (late, call) = CallCareless(member, SurfaceResolvers.Late);
                ledger.Begin(new(late, SurfaceNames.ShardKeyThrowsLate, member, call, world.Now, TimeSpan.Zero) { Ended = ended => LateEnded(late, ended, member, own) });
                break;
            default:
                ingredients.Draw(SurfaceNames.ShardKeyBlocks);
                var (slow, task) = CallCareless(member, SurfaceResolvers.Blocking);
                ledger.Begin(slow, SurfaceNames.ShardKeyBlocks, member, task);
                break;
        }
    }

    private void RefuseThrowing(HarnessMember member)
    {
        ingredients.Draw(SurfaceNames.ShardKeyThrows);
        string key = $"{SurfaceResolvers.Throwing}{random.Next(2)}";
        if (random.Next(2) == 0) RefuseThrowing(member, Placed(member.Dht), key);
        else RefuseThrowing(member, Own(member.Dht), new(key));
    }

    private void RefuseThrowing<TKey>(HarnessMember member, DhtMap<TKey, string> map, TKey key) where TKey : notnull
    {
        ledger.Refused<UserCodeException>(CallKind.Put, SurfaceNames.ShardKeyThrows, () => map.PutAsync(key, "p").AsTask());
        ledger.Refused<UserCodeException>(CallKind.Get, SurfaceNames.ShardKeyThrows, () => map.GetAsync(key).AsTask());
        ledger.Refused<UserCodeException>(CallKind.Change, SurfaceNames.ShardKeyThrows, () => map.TryAddAsync(key, "p").AsTask());
        ledger.Refused<UserCodeException>(CallKind.Commit, SurfaceNames.ShardKeyThrows, () => member.Dht.NewBatch().Put(map, key, "p").CommitAsync().AsTask());
        // An update is refused only when its key is read.
        ledger.RefusedLater<UserCodeException>(CallKind.Update, SurfaceNames.ShardKeyThrows, member, map.UpdateAsync(key, static _ => "p").AsTask());
    }

    private (CallKind Kind, Task Task) CallCareless(HarnessMember member, string name) => random.Next(2) == 0
        ? CallCareless(member, Placed(member.Dht), $"{name}0", $"{name}1") : CallCareless(member, Own(member.Dht), new($"{name}0"), new($"{name}1"));

    private (CallKind Kind, Task Task) CallCareless<TKey>(HarnessMember member, DhtMap<TKey, string> map, TKey one, TKey two) where TKey : notnull => random.Next(6) switch
    {
        0 => (CallKind.Get, map.GetAsync(one).AsTask()),
        1 => (CallKind.Get, map.GetAsync([one, two]).AsTask()),
        2 => (CallKind.Change, map.TryAddAsync(one, "p").AsTask()),
        3 => (CallKind.Commit, member.Dht.NewBatch().Put(map, one, "p").Put(map, two, "p").CommitAsync().AsTask()),
        4 => (CallKind.Update, map.UpdateAsync(two, static text => text.ValueOr("") + "p").AsTask()),
        _ => (CallKind.Put, map.PutAsync(two, "p").AsTask()),
    };

    private static DhtMap<string, string> Placed(Dht dht) => SurfaceDriver.Value(dht, SurfaceResolvers.Careless);

    private static DhtMap<CarelessKey, string> Own(Dht dht) => dht.Map<CarelessKey, string>(SurfaceResolvers.CarelessOwn);

    /// <summary>
    /// Judges a call whose key no replica can place. All replicas must refuse it but the caller's own, which does not ask for the place again: the call may be executed only
    /// where the caller's member holds such a key's shard. An update may also end with the error of the user's code, since its second step is called in a turn. What a read
    /// returns is not judged.
    /// </summary>
    private static void LateEnded(CallKind kind, Task ended, HarnessMember member, int own)
    {
        var error = CallErrors.ErrorOf(ended);
        if (error is null && kind != CallKind.Get && !Array.Exists(["0", "1"], key => SurfaceDriver.ShardOf(member.Dht, new(PartKind.Put, SurfaceDriver.Placed, key, 0, 0)) is var shard && (shard == own || shard == member.Host.Current!.State.Shard)))
            throw new ScenarioFailedException($"A {kind} of a key that no replica can place was executed for m{member.Index}, which holds none of its shard.");
        if (error is null or DhtConfigurationException || (kind == CallKind.Update && error is UserCodeException)) return;
        if (!CallErrors.Allows(kind, error, cancelled: false)) throw new ScenarioFailedException($"A {kind} of a key that no replica can place ended with {error}");
    }

    /// <summary>A call that uses what only some members declare: executed if all members have it, and otherwise refused by the coordinator.</summary>
    private void UseExtra(HarnessMember member)
    {
        var extra = SurfaceDriver.Value(member.Dht, SurfaceResolvers.Extra);
        var x = SurfaceDriver.Value(member.Dht, "x");
        string key = $"e{random.Next(2)}";
        var (kind, task) = random.Next(6) switch
        {
            0 => (CallKind.Get, (Task)extra.GetAsync(key).AsTask()),
            1 => (CallKind.Put, extra.PutAsync(key, "e").AsTask()),
            2 => (CallKind.Commit, member.Dht.NewBatch().Put(extra, key, "e").Put(x, key, "e").CommitAsync().AsTask()),
            3 => (CallKind.Change, extra.TryAddAsync(key, "e").AsTask()),
            4 => (CallKind.Update, extra.UpdateAsync(key, static text => text.ValueOr("") + "e").AsTask()),
            _ => (CallKind.Merge, x.MergeAsync(key, true).AsTask()),
        };
        ledger.Begin(new(kind, "of what some members lack", member, task, world.Now, TimeSpan.Zero) { Ended = ended => Ended(kind, ended) });
    }

    private void Ended(CallKind kind, Task ended)
    {
        var error = CallErrors.ErrorOf(ended);
        if (error is MapNotAgreedException) ingredients.Draw(SurfaceNames.NotAgreed);
        // The resolver throws nowhere: a replica that says so took the call though it lacks the resolver.
        else if (error is ResolverException or PartlyAppliedException || error is not null && !CallErrors.Allows(kind, error, cancelled: false)) throw new ScenarioFailedException($"A call of what some members lack ended with {error}");
        if (error is not null) return;
        ingredients.Draw(SurfaceNames.Agreed);
        var lacks = world.Members.Find(static m => m.InView && m.Host.Current is { IsOver: false, State.Map: not null } layer && layer.State.Maps.Named(SurfaceResolvers.Extra) is null);
        if (lacks is not null) throw new ScenarioFailedException($"A call of what m{lacks.Index} {ExecutedThoughLacked}.");
    }
}
