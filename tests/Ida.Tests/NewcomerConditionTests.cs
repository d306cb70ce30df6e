using System.Buffers;
using GroupCore.Wire;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>
/// Puts whose result depends on the entries, executed while a newcomer waits for its state: it comes to the same results as the others, whenever the ranges arrive.
/// </summary>
public sealed class NewcomerConditionTests
{
    private const int Source = 0, Issuer = 1, Newcomer = 4, Keys = 400;

    // When the ranges of the keys in use arrive: before the puts, after them, or never, so that the keys are asked for singly.
    public static TheoryData<string> Arrivals() => ["before", "after", "singly", "mixed"];

    [Theory]
    [MemberData(nameof(Arrivals))]
    public async Task A_newcomer_finds_the_same_outcomes_and_entries_as_the_others(string arrival)
    {
        var world = Filled();
        var dht = world.Members[Issuer].Dht;
        var map = dht.Map<string, string>("texts");
        // Some of the ranges come, or none at all.
        int acknowledged = 0;
        bool stalled = arrival == "after";
        world.Swallows = (_, _, type) => !stalled && type == DhtFrame.ChunkAck && ++acknowledged > 100;
        var newcomer = Join(world);
        for (int i = 0; i < 20; i++)
        {
            world.Advance(TimeSpan.FromMicroseconds(200));
            Deliver();
        }
        var sink = newcomer.Host.Current!.Sink;
        bool[] has = [.. Enumerable.Range(0, Keys).Select(i => sink.Has(RangeOf(map, Key(i))))];
        Assert.Equal(!stalled, has.Contains(true));
        Queue<string> here = new(Enumerable.Range(0, Keys).Where(i => has[i]).Select(Key)), away = new(Enumerable.Range(0, Keys).Where(i => !has[i]).Select(Key));
        var absentHere = new Queue<string>(Enumerable.Range(0, 4_000).Select(static i => $"absent{i}_0").Where(key => sink.Has(RangeOf(map, key))));
        var absentAway = new Queue<string>(Enumerable.Range(0, 4_000).Select(static i => $"absent{i}_0").Where(key => !sink.Has(RangeOf(map, key))));
        var versions = DhtWorld.Slice(world.Members[Source]).Of(map).ToDictionary(static e => e.Key, static e => e.Value.Version);
        int turn = 0;
        var calls = new List<Task>();
        for (int round = 0; round < 4; round++)
        {
            string a = Next(), b = Next(), c = Next(), d = Next(), e = Next(), f = Next(), g = Next(), h = Next();
            string none = Absent(), other = Absent(), third = Absent();
            calls.Add(dht.NewBatch().Expect(map, a, versions[a]).Put(map, b, "met").Remove(map, none).CommitAsync().AsTask());
            calls.Add(dht.NewBatch().Expect(map, c, versions[c] + 1).Put(map, d, "unmet").Put(map, other, "unmet").CommitAsync().AsTask());
            calls.Add(dht.NewBatch().Put(map, e, "failed").Merge(map, f, -1).CommitAsync().AsTask());
            calls.Add(map.RemoveAsync([g, third]).AsTask());
            calls.Add(map.TryReplaceAsync(h, "replaced", versions[h]).AsTask());
            calls.Add(map.TryAddAsync(Absent(), "added").AsTask());
            calls.Add(map.TryAddAsync(Next(), "not added").AsTask());
            calls.Add(map.RemoveAsync(Absent()).AsTask());
            calls.Add(map.RemoveAsync(Next()).AsTask());
            calls.Add(map.MergeAsync(Next(), 7).AsTask());
            calls.Add(map.MergeAsync(Next(), 0).AsTask());
            calls.Add(dht.NewBatch().Expect(map, Absent(), 0).CommitAsync().AsTask());
        }
        for (int i = 0; i < 100; i++)
        {
            world.Advance(TimeSpan.FromMicroseconds(200));
            Deliver();
        }
        Assert.All(calls, static call => Assert.True(call.IsCompletedSuccessfully || call.Exception?.InnerException is ResolverException, call.Exception?.ToString() ?? "The call has not ended."));
        Assert.Equal(4, calls.Count(static call => call.IsFaulted));
        Assert.False(newcomer.Host.Current.State.Initialised);
        if (arrival is "singly" or "mixed") Assert.True(world.Members[Source].Dht.Counters.SentOf(DhtFrame.Fetched) > 0);
        var session = world.Members[Issuer].Host.Current!.State.Session;
        if (arrival != "after") AssertSameOutcomes();
        world.Swallows = null;
        if (!stalled) world.ChangeView();
        world.Settle();
        AssertSameOutcomes();
        // Keys that were looked at and are absent leave nothing, even before a snapshot passes over them.
        Assert.Equal(DhtWorld.Slice(world.Members[Source]).Entries.Count, newcomer.Host.Current.Participant.Slice.Table.Count);
        world.AssertEqualReplicas();
        foreach (var call in calls.OfType<Task<PutResult>>().Where(static call => call.IsCompletedSuccessfully)) Assert.NotEmpty((await call).Versions);

        void Deliver() => world.DeliverAll((from, to) => !stalled || (from, to) is not ((Source, Newcomer) or (Newcomer, Source)));

        string Next() => (arrival == "before" || (arrival == "mixed" && turn++ % 2 == 0) ? here : away).Dequeue();

        string Absent() => (arrival == "before" || (arrival == "mixed" && turn++ % 2 == 0) ? absentHere : absentAway).Dequeue();

        void AssertSameOutcomes()
        {
            var (left, right) = (world.Members[Source].Host.Current!.Participant.Sessions.Find(session)!, newcomer.Host.Current!.Participant.Sessions.Find(session)!);
            Assert.InRange(left.OutcomeCount, calls.Count, int.MaxValue);
            int met = 0;
            for (int i = 0; i < left.OutcomeCount; i++)
            {
                var outcome = left.OutcomeAt(i);
                if (!right.TryGet(outcome.Sequence, out var same)) continue;
                met++;
                Assert.Equal((outcome.Payload, outcome.Attempt), (same.Payload, same.Attempt));
                Assert.Equal(Text(outcome), Text(same));
            }
            Assert.InRange(met, calls.Count, int.MaxValue);
        }
    }

    /// <summary>The values of three keys come one after the other. In the keys' lines stand puts that need one, two or all of them, and a put that needs none.</summary>
    [Theory]
    [InlineData(0, 1, 2)]
    [InlineData(0, 2, 1)]
    [InlineData(1, 0, 2)]
    [InlineData(1, 2, 0)]
    [InlineData(2, 0, 1)]
    [InlineData(2, 1, 0)]
    public void A_put_that_waits_for_several_keys_is_applied_behind_what_stands_before_it_and_lets_nothing_pass(int one, int two, int three)
    {
        var world = Filled();
        var newcomer = Join(world);
        var dht = world.Members[Issuer].Dht;
        var map = dht.Map<string, string>("texts");
        string[] keys = [Key(1), Key(2), Key(3)];
        var before = DhtWorld.Slice(world.Members[Source]).Entries.ToDictionary(static entry => Convert.ToHexString(entry.Key.Span));
        int[] order = [one, two, three];
        var calls = new List<Task>();
        Call(map.MergeAsync(keys[0], 1).AsTask());
        Call(dht.NewBatch().Expect(map, keys[1], VersionOf(1)).Merge(map, keys[0], 2).CommitAsync().AsTask());
        Call(map.PutAsync(keys[1], "plain").AsTask());
        Call(dht.NewBatch().Expect(map, keys[2], VersionOf(2)).Merge(map, keys[1], 3).CommitAsync().AsTask());
        Call(dht.NewBatch().Merge(map, keys[0], 4).Put(map, keys[1], "never").Merge(map, keys[2], -1).CommitAsync().AsTask());
        Call(map.MergeAsync(keys[0], 5).AsTask());
        var participant = newcomer.Host.Current!.Participant;
        Assert.Empty(DhtWorld.Slice(newcomer).Entries);
        for (int i = 0; i < 3; i++)
        {
            byte[] bytes = BytesOf(map, keys[order[i]]);
            var entry = participant.Slice.Table.Find(bytes, KeyIdentity.PlaceOf(bytes))!;
            var (value, version) = (before[Convert.ToHexString(bytes)].Value.ToArray(), before[Convert.ToHexString(bytes)].Version);
            newcomer.Turn(() => participant.Late.Receive(entry, true, value, version));
            int[] known = order[..(i + 1)];
            bool first = known.Contains(0), both = first && known.Contains(1), all = i == 2;
            var slice = DhtWorld.Slice(newcomer).Of(map).ToDictionary(static e => e.Key, static e => e.Value.Value[^Math.Min(6, e.Value.Value.Length)..]);
            if (first) Assert.Equal(all ? "xxx125" : both ? "xxxx12" : "xxxxx1", slice[keys[0]]);
            // A plain put needs no value, but the puts before it come first.
            if (known.Contains(1)) Assert.Equal(all ? "plain3" : both ? "plain" : "xxxxxx", slice[keys[1]]);
            if (known.Contains(2)) Assert.Equal("xxxxxx", slice[keys[2]]);
        }
        world.Settle();
        world.AssertEqualReplicas();

        ulong VersionOf(int key) => before[Convert.ToHexString(BytesOf(map, keys[key]))].Version;

        void Call(Task call)
        {
            calls.Add(call);
            for (int i = 0; i < 20; i++)
            {
                world.Poke();
                world.DeliverAll(static (from, to) => (from, to) is not ((Source, Newcomer) or (Newcomer, Source)));
                world.Now += 500_000;
            }
            Assert.True(call.IsCompleted);
        }
    }

    /// <summary>Beyond the bound of what a newcomer may keep, puts that would have to wait are refused. Others are not, and in the end nothing of it is left.</summary>
    [Fact]
    public async Task What_conditional_puts_make_a_newcomer_keep_is_bounded()
    {
        const int Bytes = 250_000;
        var world = Filled();
        var newcomer = Join(world);
        var dht = world.Members[Issuer].Dht;
        var map = dht.Map<string, string>("texts");
        var big = dht.Map<string, byte[]>("bytes");
        byte[] value = new byte[Bytes];
        int done = 0, refused = 0;
        for (int i = 0; i < 400 && refused < 5; i++)
        {
            var put = dht.NewBatch().Expect(map, Key(i), 1).Put(big, "same_0", value).CommitAsync().AsTask();
            for (int step = 0; step < 50 && !put.IsCompleted; step++)
            {
                world.Poke();
                world.DeliverAll(static (from, to) => (from, to) is not ((Source, Newcomer) or (Newcomer, Source)));
                world.Now += 500_000;
            }
            Assert.True(put.IsCompleted);
            if (put.IsCompletedSuccessfully) done++;
            else refused += put.Exception!.InnerException is OverloadedException ? 1 : throw put.Exception;
        }
        Assert.InRange(done, DhtLimits.LateBytes / (Bytes + 1_000), (DhtLimits.LateBytes / Bytes) + 1);
        Assert.Equal(5, refused);
        var plain = map.PutAsync("plain_0", "x").AsTask();
        for (int step = 0; step < 50 && !plain.IsCompleted; step++)
        {
            world.Poke();
            world.DeliverAll(static (from, to) => (from, to) is not ((Source, Newcomer) or (Newcomer, Source)));
            world.Now += 500_000;
        }
        Assert.True(plain.IsCompletedSuccessfully);
        Assert.False(newcomer.Host.Current!.State.Initialised);
        world.Settle();
        world.AssertEqualReplicas();
        Assert.False((await world.EndAsync(dht.NewBatch().Expect(map, Key(0), 1).Put(big, "same_0", value).CommitAsync())).IsApplied);
    }

    private static string Key(int i) => $"{i}_0";

    private static string Text(in Outcome outcome)
    {
        var text = new List<string>();
        for (int i = 0; i < outcome.Versions.Count; i++) text.Add($"{outcome.VersionAt(i)}");
        return $"{string.Join(' ', text)} {outcome.Report?.Verdict} {outcome.Report?.Culprit} {outcome.Report?.Error} {Convert.ToHexString(outcome.Report?.Value ?? [])}";
    }

    private static DhtWorld Filled()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, string>("texts");
        var puts = Enumerable.Range(0, Keys).Select(i => map.PutAsync(Key(i), new string('x', 2_000)).AsTask()).ToList();
        world.RunUntil(() => puts.TrueForAll(static put => put.IsCompletedSuccessfully), "The puts");
        world.Settle();
        return world;
    }

    private static HarnessMember Join(DhtWorld world)
    {
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Assert.Equal((0, false), (late.Host.Current!.State.Shard, late.Host.Current.State.Initialised));
        return late;
    }

    private static byte[] BytesOf<T>(DhtMap<string, T> map, string key)
    {
        var bytes = new ArrayBufferWriter<byte>();
        bytes.Write(map.Identity);
        CanonicalKey.Write(bytes, key);
        return bytes.WrittenSpan.ToArray();
    }

    private static int RangeOf<T>(DhtMap<string, T> map, string key) => EntryTable.RangeOf(KeyIdentity.PlaceOf(BytesOf(map, key)));
}
