using Ida.Wire;

namespace Ida.Tests;

/// <summary>A newcomer that has most of the state when it asks another source is told at once of all ranges that it has: what waited for them is work of many turns.</summary>
public sealed class SkippedRangesTests
{
    private const int Source = 0, Newcomer = 4, Keys = 5_000, Together = 100, MostPerStep = 2 * (2_048 + Together);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task R_what_waited_for_ranges_that_are_skipped_is_done_over_turns(bool merges)
    {
        int resolved = 0;
        var world = new DhtWorld();
        world.Declare = maps => maps.Map<string, string>("texts").OnMerge<int>((_, stored, incoming) =>
        {
            if (world.Running is { Index: Newcomer }) resolved++;
            return stored + incoming;
        });
        world.Found(4);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        string[] keys = [.. Enumerable.Range(0, Keys).Select(static i => $"{i}_0")];
        foreach (var some in keys.Chunk(2_500))
        {
            var put = map.PutAsync(some.Select(static key => KeyValuePair.Create(key, (string?)"x"))).AsTask();
            world.RunUntil(() => put.IsCompletedSuccessfully, "The put");
        }
        world.Settle();
        world.Swallows = static (_, _, type) => type == DhtFrame.StateEnd;
        var newcomer = world.Add();
        world.ChangeView();
        newcomer.Enable(world.Options, world.Declare);
        world.ChangeView();
        var participant = newcomer.Host.Current!.Participant;
        world.RunUntil(() => participant.Slice.Table.Count == Keys && world.Busy().Count == 0, "All ranges");
        Assert.False(newcomer.Host.Current.State.Initialised);
        world.Swallows = null;
        // Now the newcomer asks again, and has all ranges.
        world.ChangeView();
        // What one put merges is applied together.
        foreach (var some in keys.Chunk(merges ? Together : 2_500))
        {
            var call = merges ? map.MergeAsync(some.Select(static key => KeyValuePair.Create(key, 1))).AsTask() : map.RemoveAsync(some).AsTask();
            for (int i = 0; i < 200 && !call.IsCompleted; i++)
            {
                world.Advance(TimeSpan.FromMilliseconds(0.5));
                world.DeliverAll(static (from, to) => !IsTransfer(from, to));
            }
            Assert.True(call.IsCompletedSuccessfully, call.Exception?.ToString());
        }
        Assert.Equal((0, Keys), (resolved, participant.Slice.Table.Count));
        int most = 0;
        for (int step = 0; step < 10_000 && !(newcomer.Host.Current.State.Initialised && participant.Slice.Table.Count == (merges ? Keys : 0)); step++)
        {
            int before = merges ? -resolved : participant.Slice.Table.Count;
            if (!world.Deliver(Source, Newcomer) && !world.Deliver(Newcomer, Source)) world.Advance(TimeSpan.FromMilliseconds(1));
            most = Math.Max(most, before - (merges ? -resolved : participant.Slice.Table.Count));
        }
        Assert.True(newcomer.Host.Current.State.Initialised);
        Assert.Equal(merges ? (Keys, Keys) : (0, 0), (resolved, participant.Slice.Table.Count));
        Assert.InRange(most, 1, MostPerStep);
        world.Settle();
        var slices = new[] { world.Members[Source], newcomer }.Select(static member => member.Dht.SnapshotAsync()).ToList();
        world.RunUntil(() => slices.TrueForAll(static slice => slice.IsCompletedSuccessfully), "The snapshots");
        Assert.Equal((await slices[0]).Digest, (await slices[1]).Digest);
    }

    private static bool IsTransfer(int from, int to) => (from, to) is (Source, Newcomer) or (Newcomer, Source);
}
