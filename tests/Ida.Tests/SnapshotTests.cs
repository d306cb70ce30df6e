using Ida.Ordering;

namespace Ida.Tests;

/// <summary>A snapshot is of one moment, whatever its size, and takes a bounded part of any turn.</summary>
public sealed class SnapshotTests
{
    private const int Keys = 40_000, PerPut = 4_000;

    [Fact]
    public async Task F31_a_large_slice_is_copied_over_many_turns_and_is_of_one_moment()
    {
        var world = DhtWorld.Founded(2, options: new() { ShardSize = 2, TargetSize = 2, Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var map = world.Members[0].Dht.Map<int, int>("numbers");
        for (int i = 0; i < Keys; i += PerPut) Put(i, i + PerPut, 1);
        var member = world.Members[1];
        var first = member.Dht.SnapshotAsync(TestContext.Current.CancellationToken);
        member.Turn(static () => { });
        var second = member.Dht.SnapshotAsync(TestContext.Current.CancellationToken);
        int turns = 0;
        for (int i = 0; !first.IsCompleted || !second.IsCompleted; i++)
        {
            Assert.True(i < 1_000);
            if (!first.IsCompleted) turns++;
            // Changed, removed and new keys everywhere, while the cut is copied.
            if (i < 5)
            {
                Put(i * 1_000, (i * 1_000) + 500, 2);
                var removed = map.RemoveAsync(Enumerable.Range((i * 1_000) + 500, 400)).AsTask();
                Put(Keys + (i * 500), Keys + (i * 500) + 500, 3);
                world.RunUntil(() => removed.IsCompleted, "The removal");
            }
            world.Advance(TimeSpan.FromMilliseconds(1));
        }
        Assert.InRange(turns, Keys / SliceCut.EntriesPerTurn / 2, 1_000);
        var before = (await first).Of(member.Dht.Map<int, int>("numbers")).ToDictionary(e => e.Key, e => e.Value.Value);
        Assert.Equal(Keys, before.Count);
        Assert.All(before, one => Assert.Equal(1, one.Value));
        world.Settle();
        var slices = world.Members.ConvertAll(one => one.Dht.SnapshotAsync(TestContext.Current.CancellationToken));
        world.RunUntil(() => slices.TrueForAll(one => one.IsCompleted), "The last snapshots");
        Assert.Equal((await slices[0]).Digest, (await slices[1]).Digest);
        Assert.Equal(Keys + 2_500 - 2_000, (await slices[1]).Entries.Count);
        // What the cut held back is gone.
        Assert.Equal(Keys + 2_500 - 2_000, member.Host.Current!.Participant.Slice.Table.Count);
        Assert.NotEqual((await second).Digest, (await first).Digest);

        void Put(int from, int to, int value)
        {
            var put = map.PutAsync(Enumerable.Range(from, to - from).Select(key => KeyValuePair.Create(key, value))).AsTask();
            world.RunUntil(() => put.IsCompleted, "The put");
            Assert.True(put.IsCompletedSuccessfully, put.Exception?.ToString());
        }
    }

    [Fact]
    public void F31_a_snapshot_that_is_under_way_when_the_member_leaves_ends_with_an_error()
    {
        var world = DhtWorld.Founded(2, options: new() { ShardSize = 2, TargetSize = 2, Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var map = world.Members[0].Dht.Map<int, int>("numbers");
        for (int i = 0; i < 3; i++)
        {
            var put = map.PutAsync(Enumerable.Range(i * PerPut, PerPut).Select(key => KeyValuePair.Create(key, 1))).AsTask();
            world.RunUntil(() => put.IsCompleted, "The put");
        }
        var snapshot = world.Members[1].Dht.SnapshotAsync(TestContext.Current.CancellationToken);
        world.Members[1].Turn(static () => { });
        Assert.False(snapshot.IsCompleted);
        world.Exclude(world.Members[1]);
        Assert.IsType<NotDhtMemberException>(snapshot.Exception?.InnerException);
    }

    [Fact]
    public void R_a_member_whose_dht_is_over_says_so_instead_of_showing_an_empty_slice()
    {
        var world = DhtWorld.Founded(2, options: new() { ShardSize = 2, TargetSize = 2 });
        world.Exclude(world.Members[1]);
        var snapshot = world.Members[1].Dht.SnapshotAsync(TestContext.Current.CancellationToken);
        world.RunUntil(() => snapshot.IsCompleted, "The snapshot");
        Assert.IsType<NotDhtMemberException>(snapshot.Exception?.InnerException);
    }

    /// <summary>Their continuations run on several threads: what they share must be made once, or they would sort one list at the same time.</summary>
    [Fact]
    public async Task R_callers_of_one_cut_share_the_slice_that_is_made_of_it()
    {
        var world = DhtWorld.Founded(2, options: new() { ShardSize = 2, TargetSize = 2, Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var map = world.Members[0].Dht.Map<int, int>("numbers");
        for (int i = 0; i < 3; i++)
        {
            var put = map.PutAsync(Enumerable.Range(i * PerPut, PerPut).Select(key => KeyValuePair.Create(key, 1))).AsTask();
            world.RunUntil(() => put.IsCompleted, "The put");
        }
        var member = world.Members[1];
        var first = member.Dht.SnapshotAsync(TestContext.Current.CancellationToken);
        member.Turn(static () => { });
        Assert.False(first.IsCompleted);
        var second = member.Dht.SnapshotAsync(TestContext.Current.CancellationToken);
        var third = member.Dht.SnapshotAsync(TestContext.Current.CancellationToken);
        world.RunUntil(() => first.IsCompleted && second.IsCompleted && third.IsCompleted, "The snapshots");
        Assert.NotSame(await first, await second);
        Assert.Same(await second, await third);
        Assert.Equal(3 * PerPut, (await third).Entries.Count);
    }
}
