using GroupCore.Runtime;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>What a careless program does besides its puts and reads: calls that must be refused at once, questions during faults, user code that misbehaves.</summary>
internal sealed class SurfaceMisuse(DhtWorld world, Prng random, Ingredients ingredients, SurfaceLedger ledger)
{
    private const int Large = 300_000;

    public void Do(HarnessMember member)
    {
        var dht = member.Dht;
        var texts = SurfaceDriver.Value(dht, "x");
        string key = $"x{random.Next(2)}";
        var again = new PutOptions { Operation = new(member.Host.Current?.State.Session ?? 1, 1) };
        switch (random.Next(34))
        {
            case < 4: TryCallClosed(); break;
            case 4:
                Refuse<ArgumentException>(SurfaceNames.SameKeyTwice, () => texts.PutAsync([new(key, "1"), new("y", "2"), new(key, "3")]).AsTask());
                Refuse<ArgumentException>(SurfaceNames.SameKeyTwice, () => texts.MergeAsync<int>([new(key, 5), new("y", 6), new(key, 7)]).AsTask(), CallKind.Merge);
                Refuse<ArgumentException>(SurfaceNames.SameKeyTwice, () => dht.NewBatch().Put(texts, key, "1").Expect(texts, key, 0).Remove(texts, key).CommitAsync().AsTask(), CallKind.Commit);
                break;
            case 5:
                Refuse<ArgumentNullException>(SurfaceNames.NullKey, () => texts.PutAsync(null!, "1").AsTask());
                Refuse<ArgumentNullException>(SurfaceNames.NullKey, () => texts.PutAsync(null!, "1", again).AsTask(), CallKind.Retry);
                Refuse<ArgumentNullException>(SurfaceNames.NullKey, () => texts.GetAsync((string)null!).AsTask(), CallKind.Get);
                Refuse<ArgumentNullException>(SurfaceNames.NullKey, () => texts.TryAddAsync(null!, "1").AsTask(), CallKind.Change);
                Refuse<ArgumentNullException>(SurfaceNames.NullKey, () => texts.MergeAsync(null!, 5).AsTask(), CallKind.Merge);
                Refuse<ArgumentNullException>(SurfaceNames.NullKey, () => texts.UpdateAsync(null!, static text => text.ValueOr("")).AsTask(), CallKind.Update);
                break;
            case 6:
                Refuse<NoResolverException>(SurfaceNames.NoResolver, () => texts.MergeAsync(key, 1.5).AsTask(), CallKind.Merge);
                Refuse<NoResolverException>(SurfaceNames.NoResolver, () => texts.MergeAsync(key, 1.5, again).AsTask(), CallKind.Retry);
                break;
            case 7: TooLargeKeys(member, texts, again); break;
            case 8: Refuse<ValueTooLargeException>(SurfaceNames.ValueTooLarge, () => texts.PutAsync([new("y", "1"), new(key, new('v', Large))]).AsTask()); break;
            case 9:
                Refuse<ValueTooLargeException>(SurfaceNames.TooManyKeys, () => texts.PutAsync(Enumerable.Range(0, 4097).Select(static i => KeyValuePair.Create($"{i}.0", (string?)"1"))).AsTask());
                Refuse<ValueTooLargeException>(SurfaceNames.TooManyKeys, () => texts.GetAsync(Enumerable.Range(0, 4097).Select(static i => $"{i}.0")).AsTask(), CallKind.Get);
                break;
            case 10:
                Refuse<ValueTooLargeException>(SurfaceNames.PartTooLarge, () => texts.PutAsync(Enumerable.Range(0, 8).Select(static i => KeyValuePair.Create($"{i}.0", (string?)new('v', 250_000)))).AsTask());
                var large = dht.NewBatch();
                for (int i = 0; i < 8; i++) large.Put(texts, $"{i}.0", new('v', 250_000));
                Refuse<ValueTooLargeException>(SurfaceNames.PartTooLarge, () => large.CommitAsync().AsTask(), CallKind.Commit);
                break;
            case 11: Foreign(member); break;
            case 12: Nothing(member); break;
            case 13: Resolver(SurfaceNames.ResolverThrows, SurfaceResolvers.Throw, fails: true); break;
            case 14: Resolver(SurfaceNames.ResolverRemoves, SurfaceResolvers.Remove, fails: false); break;
            case 15: Resolver(SurfaceNames.ResolverTooLarge, SurfaceResolvers.TooLarge, fails: true); break;
            case 16 or 17: Resolver(SurfaceNames.ResolverBlocks, SurfaceResolvers.Block + random.Next(10_000), fails: false); break;
            case 18: ledger.Begin(CallKind.Merge, "merge that calls the DHT", member, texts.MergeAsync(key, SurfaceResolvers.Call).AsTask()); break;
            case 19: Begin(CallKind.Put, SurfaceNames.Empty, member, dht.Map<string, byte[]>("z").PutAsync(key, []).AsTask()); break;
            case 20 or 21: Flood(member, texts); break;
            case 22 when ingredients.Allows(SurfaceNames.BadTimeout):
                var never = TimeSpan.FromSeconds(-random.Next(1, 3)) + TimeSpan.FromSeconds(1);
                Refuse<ArgumentOutOfRangeException>(SurfaceNames.BadTimeout, () => texts.PutAsync(key, "1", new() { Timeout = never }).AsTask());
                Refuse<ArgumentOutOfRangeException>(SurfaceNames.BadTimeout, () => texts.TryReplaceAsync(key, "1", 7, new() { Timeout = never }).AsTask(), CallKind.Change);
                Refuse<ArgumentOutOfRangeException>(SurfaceNames.BadTimeout, () => texts.UpdateAsync(key, static text => text.ValueOr(""), new() { Timeout = never }).AsTask(), CallKind.Update);
                Refuse<ArgumentOutOfRangeException>(SurfaceNames.BadLevel, () => texts.PutAsync(key, "1", new() { Level = (ConsistencyLevel)(2 + random.Next(9)) }).AsTask());
                Refuse<ArgumentOutOfRangeException>(SurfaceNames.BadLevel, () => texts.TryRemoveAsync(key, 7, new() { Level = (ConsistencyLevel)(2 + random.Next(9)) }).AsTask(), CallKind.Change);
                Refuse<ArgumentOutOfRangeException>(SurfaceNames.BadLevel, () => texts.UpdateAsync(key, static text => text.ValueOr(""), new() { Level = (ConsistencyLevel)(2 + random.Next(9)) }).AsTask(), CallKind.Update);
                Refuse<ArgumentOutOfRangeException>(SurfaceNames.BadLevel, () => texts.GetAsync(key, new() { Level = (ConsistencyLevel)(-1 - random.Next(9)) }).AsTask(), CallKind.Get);
                Refuse<ArgumentOutOfRangeException>(SurfaceNames.BadLevel, () => texts.GetAsync([], new() { Level = (ConsistencyLevel)7 }).AsTask(), CallKind.Get);
                break;
            case 23: ThrowForOne(member, texts); break;
            case 24: MakeUpId(member, texts, key); break;
            case 26 or 27: Expectations(member, texts, again); break;
            case 28:
                Refuse<ArgumentException>(SurfaceNames.UpdateNamed, () => texts.UpdateAsync(key, static text => text.ValueOr(""), again).AsTask(), CallKind.Update);
                Refuse<ArgumentNullException>(SurfaceNames.NoFunction, () => texts.UpdateAsync(key, null!).AsTask(), CallKind.Update);
                break;
            case 29:
                Refuse<ArgumentNullException>(SurfaceNames.NullValue, () => texts.TryAddAsync(key, null!).AsTask(), CallKind.Change);
                Refuse<ArgumentNullException>(SurfaceNames.NullValue, () => texts.TryReplaceAsync(key, null!, 7, again).AsTask(), CallKind.Retry);
                break;
            case 30 or 31: RemoveNothing(member, texts, key); break;
            default: TryCallClosed(); break;
        }

        void Resolver(string name, int what, bool fails)
        {
            ingredients.Draw(name);
            ledger.Begin(new(CallKind.Merge, name, member, texts.MergeAsync(key, what).AsTask(), world.Now, TimeSpan.Zero)
            {
                Ended = task =>
                {
                    var error = task.Exception?.InnerException;
                    if (fails ? error is null : error is ResolverException) throw new ScenarioFailedException($"{name} ended with {error?.ToString() ?? "a result"}.");
                    if (error is not (null or ResolverException) && !CallErrors.Allows(CallKind.Merge, error, cancelled: false)) throw new ScenarioFailedException($"{name} ended with {error}");
                },
            });
        }
    }

    /// <summary>A resolver throws for one of two pairs. The other pair must be merged if it lies in another shard, and only then.</summary>
    private void ThrowForOne(HarnessMember member, DhtMap<string, string> map)
    {
        ingredients.Draw(SurfaceNames.MergeThrows);
        bool far = SurfaceDriver.ShardOf(member.Dht, new(PartKind.Put, "x", "x0", 0, 0)) != SurfaceDriver.ShardOf(member.Dht, new(PartKind.Put, "x", "x1", 0, 0));
        var merge = map.MergeAsync<int>([new("x0", SurfaceResolvers.Throw), new("x1", SurfaceResolvers.Remove)], new() { Level = ConsistencyLevel.Strict }).AsTask();
        ledger.Begin(new(CallKind.Merge, SurfaceNames.MergeThrows, member, merge, world.Now, TimeSpan.Zero)
        {
            Ended = task =>
            {
                var error = CallErrors.ErrorOf(task);
                bool wrong = error is ResolverException or PartlyAppliedException ? error is PartlyAppliedException != far : error is null || !CallErrors.Allows(CallKind.Merge, error, cancelled: false);
                if (wrong) throw new ScenarioFailedException($"{SurfaceNames.MergeThrows} ended with {error?.ToString() ?? "a result"}.");
            },
        });
    }

    private void Begin(CallKind kind, string name, HarnessMember member, Task task)
    {
        ingredients.Draw(name);
        ledger.Begin(kind, name, member, task);
    }

    /// <summary>A part that is over must answer every call in its next turn with an error that says so; a close may succeed. False if no part is over.</summary>
    private bool TryCallClosed()
    {
        var over = world.Members.FindAll(m => m.Alive && !world.IsStalled(m) && m.Dht is not null && m.Host.Current is { IsOver: true });
        if (over.Count == 0) return false;
        var member = over[random.Next(over.Count)];
        ingredients.Draw(SurfaceNames.CallClosed);
        var map = SurfaceDriver.Value(member.Dht, "x");
        (CallKind Kind, Task Task)[] calls =
        [
            (CallKind.Put, map.PutAsync("x0", "1").AsTask()), (CallKind.Change, map.TryAddAsync("x0", "1").AsTask()), (CallKind.Merge, map.MergeAsync("x0", 5).AsTask()),
            (CallKind.Commit, member.Dht.NewBatch().Expect(map, "x0", 0).CommitAsync().AsTask()), (CallKind.Update, map.UpdateAsync("x0", static text => text.ValueOr("")).AsTask()), (CallKind.Get, map.GetAsync("x0").AsTask()), (CallKind.WhenInitialised, member.Dht.WhenInitialisedAsync()),
            (CallKind.Status, member.Dht.StatusAsync()), (CallKind.Snapshot, member.Dht.SnapshotAsync()), (CallKind.Close, member.Dht.CloseAsync().AsTask()),
        ];
        member.Turn(static () => { });
        foreach (var (kind, call) in calls)
        {
            if (!call.IsCompleted) throw new ScenarioFailedException($"{kind} of a part of the DHT that is over does not end.");
            if (CallErrors.ErrorOf(call) is { } error ? CallErrors.MeaningOf(kind, error) != ErrorMeaning.Over : kind != CallKind.Close) throw new ScenarioFailedException($"{kind} of a part that is over ended with {call.Status} {call.Exception}");
        }
        return true;
    }

    private void Foreign(HarnessMember member)
    {
        var other = world.Members.Find(m => m != member && m.Dht is not null);
        if (other is null) return;
        ingredients.Draw(SurfaceNames.ForeignMap);
        Expect.Throws<ArgumentException>(() => member.Dht.NewBatch().Put(SurfaceDriver.Value(other.Dht, "x"), "x0", "1"));
        Expect.Throws<ArgumentException>(() => member.Dht.NewBatch().Expect(SurfaceDriver.Value(other.Dht, "x"), "x0", 1));
        Expect.Throws<ArgumentException>(() => member.Dht.NewReading().Add(SurfaceDriver.Value(other.Dht, "x"), "x0"));
    }

    private void Nothing(HarnessMember member)
    {
        ingredients.Draw(SurfaceNames.NothingAtAll);
        var map = SurfaceDriver.Value(member.Dht, "x");
        Task[] calls = [map.PutAsync([]).AsTask(), map.RemoveAsync([]).AsTask(), map.GetAsync(Array.Empty<string>()).AsTask(), member.Dht.NewBatch().CommitAsync().AsTask(), member.Dht.NewReading().RunAsync().AsTask()];
        if (!calls.All(static call => call.IsCompletedSuccessfully)) throw new ScenarioFailedException("A call that asks for nothing does not return at once.");
        // A retry without its pairs, and a map name that is cut within a character.
        Expect.Throws<ArgumentException>(() => map.PutAsync([], new() { Operation = new(1 + random.NextUInt64(), random.NextUInt64()) }).AsTask());
        Expect.Throws<UndeclaredMapException>(() => SurfaceDriver.Value(member.Dht, "x\uD83D"));
    }

    private void TooLargeKeys(HarnessMember member, DhtMap<string, string> map, PutOptions again)
    {
        string key = new('k', 5000);
        Refuse<ValueTooLargeException>(SurfaceNames.KeyTooLarge, () => map.PutAsync(key, "1").AsTask());
        Refuse<ValueTooLargeException>(SurfaceNames.KeyTooLarge, () => map.PutAsync(key, "1", again).AsTask(), CallKind.Retry);
        Refuse<ValueTooLargeException>(SurfaceNames.KeyTooLarge, () => map.GetAsync(key).AsTask(), CallKind.Get);
        Refuse<ValueTooLargeException>(SurfaceNames.KeyTooLarge, () => map.TryAddAsync(key, "1").AsTask(), CallKind.Change);
        Refuse<ValueTooLargeException>(SurfaceNames.KeyTooLarge, () => map.MergeAsync(key, 5).AsTask(), CallKind.Merge);
        // An update is refused only when its key is read.
        ledger.RefusedLater<ValueTooLargeException>(CallKind.Update, SurfaceNames.KeyTooLarge, member, map.UpdateAsync(key, static text => text.ValueOr("")).AsTask());
    }

    // Two different expectations of one key; and expectations where keys lie in two shards, if the hash places any so.
    private void Expectations(HarnessMember member, DhtMap<string, string> map, PutOptions again)
    {
        var dht = member.Dht;
        Refuse<ArgumentException>(SurfaceNames.ExpectTwo, () => dht.NewBatch().Expect(map, "x0", 1).Expect(map, "x0", 2).CommitAsync().AsTask(), CallKind.Commit);
        Refuse<ArgumentException>(SurfaceNames.ExpectTwo, () => dht.NewBatch(again).Expect(map, "x0", 1).Put(map, "x0", "1").Expect(map, "x0", 2).CommitAsync().AsTask(), CallKind.Retry);
        if (SurfaceDriver.ShardOf(dht, new(PartKind.Put, "x", "x0", 0, 0)) == SurfaceDriver.ShardOf(dht, new(PartKind.Put, "x", "x1", 0, 0))) return;
        Refuse<ArgumentException>(SurfaceNames.ExpectFar, () => dht.NewBatch().Expect(map, "x0", 1).Put(map, "x1", "1").CommitAsync().AsTask(), CallKind.Commit);
        Refuse<ArgumentException>(SurfaceNames.ExpectFar, () => dht.NewBatch().Merge(map, "x0", SurfaceResolvers.Throw).Expect(map, "x1", 0).CommitAsync().AsTask(), CallKind.Commit);
        Refuse<ArgumentException>(SurfaceNames.ExpectFar, () => dht.NewBatch(again).Expect(map, "x0", 0).Expect(map, "x1", 0).CommitAsync().AsTask(), CallKind.Retry);
    }

    /// <summary>A removal that expects version 0 must not remove: an absent key has that version but no entry, and a key with an entry has another version.</summary>
    private void RemoveNothing(HarnessMember member, DhtMap<string, string> map, string key)
    {
        ingredients.Draw(SurfaceNames.RemoveNothing);
        ledger.Begin(new(CallKind.Change, SurfaceNames.RemoveNothing, member, map.TryRemoveAsync(key, 0).AsTask(), world.Now, TimeSpan.Zero)
        {
            Ended = static task =>
            {
                if (task is Task<bool> { IsCompletedSuccessfully: true, Result: true }) throw new ScenarioFailedException($"{SurfaceNames.RemoveNothing}: it was told that it removed an entry.");
                if (CallErrors.ErrorOf(task) is { } error && !CallErrors.Allows(CallKind.Change, error, cancelled: false)) throw new ScenarioFailedException($"{SurfaceNames.RemoveNothing} ended with {error}");
            },
        });
    }

    /// <summary>A put under an id that some member has not given yet. While that member is there, the put must not be executed.</summary>
    private void MakeUpId(HarnessMember member, DhtMap<string, string> map, string key)
    {
        var owner = world.Members[random.Next(world.Members.Count)];
        if (owner.Host.Current is not { } layer) return;
        ingredients.Draw(SurfaceNames.NeverGiven);
        var id = new OperationId(layer.State.Session, DhtWorld.Named - 1 - (ulong)random.Next(1000));
        ledger.Begin(new(CallKind.Retry, SurfaceNames.NeverGiven, member, map.PutAsync(key, "1", new() { Operation = id }).AsTask(), world.Now, TimeSpan.Zero)
        {
            Ended = task =>
            {
                if (task.IsCompletedSuccessfully && owner.InView && owner.Host.Current == layer && layer is { IsOver: false, State.Map: not null })
                    throw new ScenarioFailedException($"A put of m{member.Index} was executed under id {id}, which m{owner.Index} has not given.");
                if (task.Exception?.InnerException is { } error and not ArgumentException && !CallErrors.Allows(CallKind.Retry, error, cancelled: false)) throw new ScenarioFailedException($"{SurfaceNames.NeverGiven} ended with {error}");
            },
        });
    }

    private void Flood(HarnessMember member, DhtMap<string, string> map)
    {
        ingredients.Draw(SurfaceNames.Flood);
        int count = 20 + random.Next(60);
        for (int i = 0; i < count; i++)
        {
            bool read = i % 3 == 0;
            ledger.Begin(read ? CallKind.Get : CallKind.Put, "flood", member, read ? map.GetAsync([$"f{i % 4}.0", $"f{i % 4}.1"]).AsTask() : map.PutAsync($"f{i % 4}.{i % 2}", "1").AsTask());
        }
    }

    private void Refuse<T>(string name, Action misuse, CallKind kind = CallKind.Put) where T : Exception
    {
        ingredients.Draw(name);
        ledger.Refused<T>(kind, name, misuse);
    }
}
