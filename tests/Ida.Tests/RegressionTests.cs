using Ida.Wire;

namespace Ida.Tests;

/// <summary>Schedules that an earlier version of the code failed.</summary>
public sealed class RegressionTests
{
    [Fact]
    public async Task An_ordered_read_over_two_shards_sees_no_half_put_when_its_time_moves()
    {
        var world = DhtWorld.Founded(4);
        world.Now += 10_000_000;
        var get = world.Members[0].Dht.Map<string, int>("ints").GetAsync(["a1", "a0"], new() { Level = ConsistencyLevel.Ordered }).AsTask();
        world.Poke();
        int asked = world.Waiting(0, 1) > 0 ? 1 : 3;
        world.Now += 1_000_000;
        _ = world.Members[2].Dht.Map<string, int>("ints").PutAsync([new("a1", 7), new("a0", 7)]).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from == 2);
        world.DeliverUntil(0, asked, DhtFrame.Propose);
        world.DeliverAll((from, to) => to == 2);
        world.DeliverAll((from, to) => (from, to) == (asked, 0));
        world.DeliverAll((from, to) => (from, to) == (2, asked));
        world.DeliverAll((from, to) => (from, to) == (0, asked));
        world.DeliverAll((from, to) => (from, to) == (asked, 0));
        world.RunUntil(() => get.IsCompleted, "The read");
        Assert.True((await get).Count is 0 or 2, "Half a put was seen.");
    }

    [Fact]
    public async Task Reads_that_end_while_others_are_answered_let_waiting_calls_in()
    {
        var world = DhtWorld.Founded(4, options: Few());
        var reader = world.Members[0].Dht.Map<string, int>("ints");
        var writer = world.Members[2].Dht.Map<string, int>("ints");
        _ = writer.PutAsync("a0", 1).AsTask();
        _ = writer.PutAsync("b0", 2).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (2, 0));
        var reads = new[] { "a0", "a0", "b0", "b0" }.Select(key => reader.GetAsync(key).AsTask()).ToList();
        world.Poke();
        Assert.DoesNotContain(reads, r => r.IsCompleted);
        world.Deliver(0, 2);
        world.DeliverUntil(2, 0, DhtFrame.Commit);
        world.RunUntil(() => reads.TrueForAll(r => r.IsCompleted), "The reads");
        Assert.Equal([1, 1, 2, 2], (await Task.WhenAll(reads)).Select(r => r.Value));
    }

    [Fact]
    public void A_new_view_issues_each_operation_once()
    {
        var world = DhtWorld.Founded(4, options: Few());
        var map = world.Members[0].Dht.Map<string, int>("ints");
        _ = world.Members[2].Dht.Map<string, int>("ints").PutAsync("a0", 1).AsTask();
        world.Poke();
        world.Deliver(2, 0);
        var read = map.GetAsync("a0").AsTask();
        _ = map.PutAsync("x1", 1).AsTask();
        _ = map.PutAsync("y1", 1).AsTask();
        world.Poke();
        Assert.False(read.IsCompleted);
        world.ChangeView();
        Assert.True(read.IsCompleted);
        Assert.Equal(2, world.Waiting(0, 1));
    }

    [Fact]
    public void An_answer_that_fits_no_frame_is_a_typed_error()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[1].Dht.Map<string, byte[]>("bytes");
        foreach (char first in "abcde")
        {
            var put = map.PutAsync($"{first}0", new byte[250_000]).AsTask();
            world.RunUntil(() => put.IsCompleted, "The put");
        }
        foreach (var keys in new[] { new[] { "a0", "b0", "c0", "d0", "e0" }, ["a0", "b0", "c0", "d0", "e0", "a1"] })
        {
            var get = map.GetAsync(keys).AsTask();
            world.RunUntil(() => get.IsCompleted, "The read");
            Assert.IsType<ValueTooLargeException>(get.Exception!.InnerException);
        }
        world.Settle();
    }

    [Fact]
    public void A_put_acknowledged_elsewhere_is_not_applied_again_by_an_older_attempt()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var first = map.MergePairAsync("a0", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask();
        world.Poke();
        world.Advance(TimeSpan.FromMilliseconds(20));
        var id = Assert.IsType<OutcomeUnknownException>(first.Exception!.InnerException).Operation;
        world.ChangeView();
        world.DeliverAll((from, to) => (from, to) is (0, 2));
        var again = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = id }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from == 1);
        world.DeliverAll((from, to) => (from, to) is (2, 0));
        world.DeliverAll((from, to) => (from, to) is (0, 2));
        var next = map.PutAsync("b0", 5L).AsTask();
        world.Poke();
        world.RunUntil(() => again.IsCompleted && next.IsCompleted, "Both");
        world.Settle();
        foreach (int member in new[] { 0, 2 })
        {
            var read = map.GetAsync("a0").AsTask();
            world.RunUntil(() => read.IsCompletedSuccessfully && read.Result.Value == 1, $"One application at {member}", steps: 10);
        }
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(world.Members[2]).Digest);
    }

    [Fact]
    public void A_member_that_holds_all_participants_alone_needs_no_frame_to_finish()
    {
        var world = DhtWorld.Founded(2, options: new() { ShardSize = 1, TargetSize = 2, Hash = new LastByteHash() });
        var put = world.Members[0].Dht.Map<string, int>("ints").PutAsync([new("a0", 1), new("b0", 1)]).AsTask();
        world.Poke();
        Assert.True(put.IsCompletedSuccessfully);
    }

    [Fact]
    public void Enabling_between_wedge_and_install_waits_for_the_next_view_change()
    {
        var world = DhtWorld.Founded(4);
        var late = world.Add();
        world.ChangeView();
        Dht? dht = null;
        world.DuringFlush = () => dht = late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.DuringFlush = null;
        Assert.False(dht!.Serving.IsCompleted);
        world.RunUntil(() => dht.Serving.IsCompletedSuccessfully, "Its admission");
    }

    private static DhtOptions Few() => new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 2 } };
}
