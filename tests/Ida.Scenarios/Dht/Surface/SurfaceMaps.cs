using GroupCore.Runtime;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>What a careless program asks of maps: names that nobody has declared, other types, and what only some members declare.</summary>
internal sealed class SurfaceMaps(DhtWorld world, Prng random, Ingredients ingredients, SurfaceLedger ledger)
{
    public void Step()
    {
        if (random.Next(60) != 0) return;
        var able = world.Members.FindAll(m => m.Alive && m.Dht is not null && m.Host.Current is { IsOver: false, State.Map: not null } && !world.IsStalled(m));
        if (able.Count == 0) return;
        var member = able[random.Next(able.Count)];
        if (random.Next(4) == 0) Misuse(member.Dht);
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

    /// <summary>It is executed if all members have it, and else refused by the coordinator.</summary>
    private void UseExtra(HarnessMember member)
    {
        var extra = SurfaceDriver.Value(member.Dht, SurfaceResolvers.Extra);
        var x = SurfaceDriver.Value(member.Dht, "x");
        string key = $"e{random.Next(2)}";
        var (kind, task) = random.Next(4) switch
        {
            0 => (CallKind.Get, (Task)extra.GetAsync(key).AsTask()),
            1 => (CallKind.Put, extra.PutAsync(key, "e").AsTask()),
            2 => (CallKind.Put, member.Dht.NewBatch().Put(extra, key, "e").Put(x, key, "e").CommitAsync().AsTask()),
            _ => (CallKind.Put, x.MergeAsync(key, true).AsTask()),
        };
        ledger.Begin(new(kind, "of what some members lack", member, task, world.Now, TimeSpan.Zero) { Ended = ended => Ended(kind, ended) });
    }

    private void Ended(CallKind kind, Task ended)
    {
        var error = CallErrors.ErrorOf(ended);
        if (error is MapNotAgreedException) ingredients.Draw(SurfaceNames.NotAgreed);
        else if (error is not null && !CallErrors.Allows(kind, error, cancelled: false)) throw new ScenarioFailedException($"A call of what some members lack ended with {error}");
        if (error is not null) return;
        ingredients.Draw(SurfaceNames.Agreed);
        var lacks = world.Members.Find(static m => m.InView && m.Host.Current is { IsOver: false, State.Map: not null } layer && layer.State.Maps.Named(SurfaceResolvers.Extra) is null);
        if (lacks is not null) throw new ScenarioFailedException($"A call of what m{lacks.Index} lacks was executed.");
    }
}
