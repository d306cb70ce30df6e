using Ida.Wire;

namespace Ida.Tests;

/// <summary>What a read is promised about a put that is not stable when the member that answered is lost: nothing at level Ordered, everything at level Strict.</summary>
public sealed class OrderedReadTests
{
    private const int Lost = 0, Other = 2;

    /// <summary>
    /// What a shard computes ahead for a read fits no frame. The decided time is a later one, at which the result fits: what was computed ahead counts for nothing, not even
    /// that it was too large.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public async Task R_a_read_is_too_large_only_if_it_is_at_its_time(int reader)
    {
        var world = DhtWorld.Founded(8, options: new() { ShardSize = 2, TargetSize = 8, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        string[] keys = ["a0", "b0", "c0", "d0"];
        foreach (string key in keys)
        {
            var stored = Map(3).PutAsync(key, new byte[250_000]).AsTask();
            world.RunUntil(() => stored.IsCompleted, "A put");
        }
        world.Settle();
        // The clock of the other shard is ahead, and nobody else has heard of it.
        world.Members[1].Skew = world.Members[5].Skew = 300_000_000;
        var ahead = Map(1).PutAsync("a1", new byte[1]).AsTask();
        world.RunUntil(() => ahead.IsCompleted, "The put ahead");
        world.Settle();
        var read = Map(reader).GetAsync([.. keys, "a1"]).AsTask();
        world.Poke();
        world.DeliverAll((from, _) => from == reader);
        world.Now += 1_000_000;
        var remove = Map(3).RemoveAsync(["a0"]).AsTask();
        world.Poke();
        world.DeliverAll((from, _) => from == 3);
        Assert.False(read.IsCompleted || remove.IsCompleted);
        world.RunUntil(() => read.IsCompleted && remove.IsCompleted, "Both");
        Assert.Equal(["a1", "b0", "c0", "d0"], (await read).Keys.Order());

        DhtMap<string, byte[]> Map(int member) => world.Members[member].Dht.Map<string, byte[]>("bytes");
    }

    /// <summary>
    /// A put comes before the read at one shard and behind it at the other, where a participant has looked ahead and takes over the read. There the executed result fits no
    /// frame: it is no result together with what was looked at ahead, whichever answer is late.
    /// </summary>
    [Theory]
    [InlineData(ConsistencyLevel.Ordered, false)]
    [InlineData(ConsistencyLevel.Ordered, true)]
    [InlineData(ConsistencyLevel.Strict, false)]
    [InlineData(ConsistencyLevel.Strict, true)]
    public async Task R_a_read_whose_result_is_too_large_gives_nothing_that_was_looked_at_ahead(ConsistencyLevel level, bool noRoom)
    {
        var world = DhtWorld.Founded(8, options: new() { ShardSize = 2, TargetSize = 8, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        string[] keys = ["a0", "b0", "c0", "d0"];
        foreach (string key in keys) Finish(Map(3).PutAsync(key, new byte[200_000]).AsTask());
        world.Settle();
        world.Members[1].Skew = world.Members[5].Skew = 300_000_000;
        Finish(Map(1).PutAsync("a1", new byte[1]).AsTask());
        world.Settle();
        Task? waits = null;
        if (noRoom)
        {
            // The answers to this put, which do not arrive, take the room.
            waits = Map(2).PutAsync("z0", new byte[1]).AsTask();
            world.Poke();
            world.DeliverAll((from, _) => from == 2);
            world.BulkBytes = 1;
        }
        var put = Map(3).PutAsync([.. keys[..3].Select(static key => KeyValuePair.Create<string, byte[]?>(key, new byte[260_000])), new("a1", new byte[2])]).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from == 3 && to is 1 or 5);
        var read = Map(2).GetAsync([.. keys, "a1"], new() { Level = level }).AsTask();
        world.Poke();
        world.DeliverAll((from, _) => from == 2);
        world.DeliverAll((from, _) => from == 3);
        for (int i = 0; i < 150; i++)
        {
            world.DeliverAll((from, to) => to != 2 || (from is 0 or 4) != noRoom);
            world.Advance(TimeSpan.FromMilliseconds(2));
        }
        Assert.False(read.IsCompleted);
        world.BulkBytes = long.MaxValue;
        world.RunUntil(() => read.IsCompleted && put.IsCompleted && waits is not { IsCompleted: false }, "All calls");
        await Assert.ThrowsAsync<ValueTooLargeException>(() => read);

        DhtMap<string, byte[]> Map(int member) => world.Members[member].Dht.Map<string, byte[]>("bytes");

        void Finish(Task task) => world.RunUntil(() => task.IsCompleted, "A put");
    }

    /// <param name="level">The level of all calls.</param>
    /// <param name="rival">Whether the other replica holds a put with a lower proposal, whose time nobody knows.</param>
    [Theory]
    [InlineData(ConsistencyLevel.Ordered, true)]
    [InlineData(ConsistencyLevel.Ordered, false)]
    [InlineData(ConsistencyLevel.Strict, true)]
    [InlineData(ConsistencyLevel.Strict, false)]
    public async Task Only_an_ordered_read_of_what_no_survivor_executed_may_lose_its_place(ConsistencyLevel level, bool rival)
    {
        var world = DhtWorld.Founded(4);
        var sights = Sights();
        (world.AtSend, world.AtViewChange) = (sights.Sent, sights.ViewChange);
        // The clock of the member that will be lost is ahead, so the put gets its time from there.
        world.Members[Lost].Skew = 300_000_000;
        var ahead = Map(Lost).GetAsync(["a0", "b0"]).AsTask();
        world.Poke();
        Assert.True(ahead.IsCompletedSuccessfully);
        if (rival)
        {
            _ = Append(3, 2);
            world.DeliverUntil(3, Other, DhtFrame.Propose);
        }
        var put = Append(1, 1);
        world.DeliverUntil(1, Lost, DhtFrame.Propose);
        world.DeliverUntil(1, Other, DhtFrame.Propose);
        world.DeliverAll(static (_, to) => to == 1);
        world.DeliverAll(static (from, _) => from == 1);
        var read = Map(Lost).GetAsync("a0", new() { Level = level }).AsTask();
        world.Poke();
        if (!rival) world.DeliverAll();
        // A strict read waits for what stands in front of it elsewhere.
        Assert.Equal(level == ConsistencyLevel.Ordered || !rival, read.IsCompletedSuccessfully);
        if (read.IsCompletedSuccessfully)
        {
            var seen = await read;
            Assert.Equal([1], seen.Value);
            sights.Returned("read", world.Members[Lost], [("a0", seen.Version)]);
        }
        world.ChangeView(world.Members[Lost]);
        world.RunUntil(() => put.IsCompleted, "The put");
        var later = Map(Other).GetAsync("a0").AsTask();
        world.RunUntil(() => later.IsCompleted, "The later read");
        Assert.Equal(rival ? [2, 1] : [1], (await later).Value);
        Assert.Equal(level == ConsistencyLevel.Ordered && rival ? 1 : 0, sights.Count);

        DhtMap<string, List<long>> Map(int member) => world.Members[member].Dht.Map<string, List<long>>("lists");

        Task<PutResult> Append(int member, long element)
        {
            var task = Map(member).MergePairAsync("a0", element, new() { Level = level }).AsTask();
            world.Poke();
            return task;
        }
    }

    /// <summary>
    /// A read by the lost member saw that a put had not come; the put then comes at a time of the survivors. The read may lose its place only where the lost member's time for
    /// the put would have been later, and no survivor knows that time.
    /// </summary>
    [Theory]
    [InlineData("it would be later there", 1)]
    [InlineData("it is later there", 1)]
    [InlineData("one key", 0)]
    [InlineData("it is earlier there", 0)]
    [InlineData("only something else was later there", 0)]
    [InlineData("a survivor knows its time", 0)]
    [InlineData("it is dropped", 0)]
    [InlineData("it was shown by a survivor", 0)]
    public async Task An_ordered_read_that_missed_a_put_is_judged_unless_only_the_lost_member_would_have_put_it_later(string put, int unjudged)
    {
        var world = DhtWorld.Founded(4);
        var sights = Sights();
        (world.AtSend, world.AtViewChange) = (sights.Sent, sights.ViewChange);
        bool laterThere = put is not ("it is earlier there" or "only something else was later there");
        world.Members[Lost].Skew = laterThere ? 300_000_000 : 0;
        world.Members[Other].Skew = put == "it is earlier there" ? 300_000_000 : 0;
        if (put == "it is earlier there") await Read(Other, "a0", "b0");
        int reader = put == "it was shown by a survivor" ? Other : Lost;
        if (reader == Other) await Read(Lost, "a0", "b0");
        string[] keys = put == "one key" ? ["a0"] : ["a0", "b0"];
        // A read of one key takes no time, so another read comes before it.
        if (put == "one key") await Read(Lost, "a0", "b0");
        Assert.Empty(await Read(reader, keys));
        sights.Returned("read", world.Members[reader], keys.Select(static key => (key, 0UL)));
        if (!laterThere) world.Now += 1_000_000;
        if (put == "a survivor knows its time")
        {
            // The put is behind one that nobody else has.
            _ = Append(1, "c0");
            world.DeliverUntil(1, Other, DhtFrame.Propose);
        }
        _ = put == "it is dropped" ? Append(3, "a0", "a1") : Append(3, "a0", "c0");
        world.DeliverUntil(3, Other, DhtFrame.Propose);
        if (put is "it is later there" or "it is earlier there" or "a survivor knows its time") world.DeliverUntil(3, Lost, DhtFrame.Propose);
        if (put == "a survivor knows its time")
        {
            world.DeliverAll(static (_, to) => to == 3);
            world.DeliverUntil(3, Other, DhtFrame.Commit);
        }
        if (put is "it is earlier there" or "a survivor knows its time" or "only something else was later there")
        {
            // What comes behind the put at the lost member, or something of other keys.
            world.Members[Lost].Skew = 600_000_000;
            string shard = put == "only something else was later there" ? "1" : "0";
            _ = Map(Lost).GetAsync(["a" + shard, "b" + shard]).AsTask();
            world.Poke();
        }
        var open = world.Members[Other].Host.Current!.Participant.Records.Oldest!;
        Assert.False(open.Executed);
        world.ChangeView(world.Members[Lost]);
        Assert.Equal(unjudged, sights.Count);

        DhtMap<string, List<long>> Map(int member) => world.Members[member].Dht.Map<string, List<long>>("lists");

        Task<EntryDictionary<string, List<long>>> Read(int member, params string[] of)
        {
            var task = of.Length > 1 ? Map(member).GetAsync(of).AsTask() : One(Map(member).GetAsync(of[0]).AsTask());
            world.Poke();
            Assert.True(task.IsCompletedSuccessfully);
            return task;
        }

        static async Task<EntryDictionary<string, List<long>>> One(Task<Entry<List<long>>> read) =>
            new(new() { ["a0"] = await read });

        Task Append(int member, params string[] to)
        {
            var task = Map(member).MergeAsync(to.Select(static key => KeyValuePair.Create(key, 1L)), new() { Level = ConsistencyLevel.Ordered }).AsTask();
            world.Poke();
            return task;
        }
    }

    /// <summary>A member of the other shard reads; its frames show which member it asked.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Only_what_the_lost_member_was_asked_for_is_not_judged(bool asked)
    {
        var world = DhtWorld.Founded(4);
        var sights = Sights();
        (world.AtSend, world.AtViewChange) = (sights.Sent, sights.ViewChange);
        string[] keys = ["a0", "a1", "b0"];
        var read = Map(1).GetAsync(keys, new() { Level = ConsistencyLevel.Ordered }).AsTask();
        world.Poke();
        int answers = world.Waiting(1, 0) > 0 ? 0 : 2, lost = asked ? answers : 2 - answers;
        world.Members[lost].Skew = 300_000_000;
        _ = Map(lost).GetAsync(["a0", "b0"]).AsTask();
        world.Poke();
        world.DeliverAll();
        Assert.True(read.IsCompletedSuccessfully);
        sights.Returned("read", world.Members[1], keys.Select(static key => (key, 0UL)));
        _ = Map(3).MergePairAsync("a0", 1L).AsTask();
        world.Poke();
        world.DeliverUntil(3, 2 - lost, DhtFrame.Propose);
        world.ChangeView(world.Members[lost]);
        Assert.Equal(asked ? 1 : 0, sights.Count);

        DhtMap<string, List<long>> Map(int member) => world.Members[member].Dht.Map<string, List<long>>("lists");
    }

    private static LostSights Sights() => new(static (member, slice) => slice.Of(member.Dht.Map<string, List<long>>("lists")).Select(static e => (e.Key, e.Value.Version)));
}
