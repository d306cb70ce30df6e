using Ida.Maps;
using Ida.ViewChange;

namespace Ida.Tests;

/// <summary>A member that says once, at a view change, that the DHT is another one.</summary>
public sealed class ForgedConfigTests
{
    /// <summary>The liar names itself the oldest, so that its word counts. Members with other options end: with the liar's options every key would lie elsewhere.</summary>
    [Fact]
    public async Task R_a_member_that_says_another_number_of_shards_ends_the_others_with_an_error()
    {
        const int Liar = 1;
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, long>("longs").PutAsync([new KeyValuePair<string, long>("a0", 1), new("a1", 1)]).AsTask();
        world.RunUntil(() => put.IsCompletedSuccessfully, "The put");
        world.Settle();
        world.Crash(world.Members[0], loseAll: true);
        world.Lies = static (member, bytes) => member.Index == Liar ? Forged(member, bytes, static config => config with { ShardSize = 1, TargetSize = 1 }, admitted: 1) : bytes;
        world.ChangeView();
        foreach (var member in world.Members.Where(static one => one.Index > Liar))
        {
            var layer = member.Host.Current!;
            Assert.IsType<DhtConfigurationException>(layer.Ended);
            Assert.Equal(0, layer.Participant.Slice.Table.Count);
            var read = member.Dht.Map<string, long>("longs").GetAsync("a0").AsTask();
            world.Poke();
            await Assert.ThrowsAsync<DhtConfigurationException>(() => read);
        }
    }

    /// <summary>All members decide that it has a slot of the new view, in which it no longer answers.</summary>
    [Fact]
    public async Task A_member_that_ends_for_other_options_does_not_keep_its_slot()
    {
        const int Misquoted = 3;
        var world = DhtWorld.Founded(4);
        world.Lies = static (member, bytes) => member.Index == Misquoted ? Forged(member, bytes, static config => config with { Hash = "another" }) : bytes;
        world.ChangeView();
        world.Lies = null;
        Assert.IsType<DhtConfigurationException>(world.Members[Misquoted].Host.Current!.Ended);
        var put = world.Members[0].Dht.Map<string, long>("longs").PutAsync("a1", 1L).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put", steps: 100);
        Assert.Single((await put).Versions);
    }

    /// <summary>
    /// The others hold its put and execute it at the view change, and a retry tells nothing about the put that it repeats: both callers are told that nothing is known. A put
    /// of which nothing was sent, and a read, were not executed.
    /// </summary>
    [Fact]
    public async Task A_member_that_ends_for_other_options_does_not_know_what_becomes_of_its_puts()
    {
        const int Misquoted = 3;
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 2 } });
        var first = world.Members[0].Dht.Map<string, long>("longs").MergePairAsync("b0", 1L).AsTask();
        world.RunUntil(() => first.IsCompleted, "The put before");
        world.Settle();
        var map = world.Members[Misquoted].Dht.Map<string, long>("longs");
        var sent = map.MergePairAsync("a0", 1L).AsTask();
        var read = map.GetAsync("c0").AsTask();
        // These two wait for a place.
        var retry = map.MergePairAsync("b0", 1L, new() { Operation = (await first).Operation }).AsTask();
        var waits = map.MergePairAsync("d0", 1L).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (Misquoted, 0) or (Misquoted, 2));
        Assert.All([sent, retry, waits], static call => Assert.False(call.IsCompleted));
        world.Lies = static (member, bytes) => member.Index == Misquoted ? Forged(member, bytes, static config => config with { Hash = "another" }) : bytes;
        world.ChangeView();
        world.Lies = null;
        var late = map.MergePairAsync("b0", 1L, new() { Operation = (await first).Operation }).AsTask();
        world.Poke();
        Assert.All([sent, retry, late], static call => Assert.IsType<DhtConfigurationException>(Assert.IsType<OutcomeUnknownException>(call.Exception?.InnerException).InnerException));
        Assert.All([waits, (Task)read], static call => Assert.IsType<DhtConfigurationException>(call.Exception?.InnerException));
        // The put was executed.
        var id = Assert.IsType<OutcomeUnknownException>(sent.Exception!.InnerException).Operation;
        var told = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = id }).AsTask();
        var value = world.Members[1].Dht.Map<string, long>("longs").GetAsync("a0").AsTask();
        world.RunUntil(() => told.IsCompleted && value.IsCompleted, "A retry elsewhere");
        Assert.Single((await told).Versions);
        Assert.Equal(1L, (await value).Value);
    }

    /// <summary>What a member says, with another configuration.</summary>
    private static byte[] Forged(HarnessMember member, byte[] bytes, Func<DhtConfig, DhtConfig> other, ulong? admitted = null)
    {
        var said = Contribution.Read(member.Self, bytes)!;
        var lie = new Contribution
        {
            Config = other(said.Config),
            Maps = said.Maps,
            Enabled = true,
            Session = said.Session,
            Incarnation = said.Incarnation,
            Admitted = admitted ?? said.Admitted,
            Slot = said.Slot,
            Initialised = said.Initialised,
            Physical = said.Physical,
            Committed = said.Committed,
        };
        var into = new System.Buffers.ArrayBufferWriter<byte>();
        lie.Write(into);
        return into.WrittenSpan.ToArray();
    }
}
