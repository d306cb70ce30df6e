
namespace Ida.Tests;

/// <summary>Ida 9.8: members that die while a newcomer is given the state, and readers that read meanwhile.</summary>
public sealed class TransferTests
{
    private const int Keys = 40, Source = 0, Newcomer = 4;

    [Theory]
    [InlineData(true, false, false)]
    [InlineData(false, true, false)]
    [InlineData(true, true, false)]
    [InlineData(true, false, true)]
    [InlineData(false, true, true)]
    [InlineData(true, true, true)]
    public void I9_8_whoever_dies_in_a_transfer_readers_find_every_value_or_that_the_shard_is_lost(bool source, bool newcomer, bool onlySource)
    {
        int during = 0, reads = 0;
        for (ulong seed = 1; seed <= 34; seed++)
        {
            var world = DhtWorld.Founded(4, seed);
            Fill(world);
            // Slots 0 and 2 hold the shard.
            if (onlySource) world.Crash(world.Members[2]);
            world.Add();
            world.ChangeView();
            world.Members[Newcomer].Enable(world.Options, DhtWorld.Resolvers);
            world.ChangeView();
            var readers = new Readers(world);
            int until = world.Random.Next(250);
            for (int step = 0; step < until && !world.Members[Newcomer].Host.Current!.State.Full; step++) readers.Step();
            if (!world.Members[Newcomer].Host.Current!.State.Full) during++;
            if (source) world.Crash(world.Members[Source]);
            if (newcomer) world.Crash(world.Members[Newcomer]);
            for (int step = world.Random.Next(100); step > 0; step--) readers.Step();
            // What the source had sent may still make the newcomer full.
            bool lost = source && onlySource && (newcomer || !world.Members[Newcomer].Host.Current!.State.Full);
            world.ChangeView();
            for (int step = 0; step < 300; step++) readers.Step();
            readers.Finish(lost);
            reads += readers.Completed;
            foreach (var member in world.Members.Where(one => one.InView)) Assert.Equal(lost, member.Dht.Completion.IsFaulted);
            if (lost) continue;
            world.Settle();
            var full = world.Full(0);
            Assert.Equal(3 - (onlySource ? 1 : 0) - (source ? 1 : 0) - (newcomer ? 1 : 0), full.Count);
            Assert.All(full, one => Assert.Equal(Keys, DhtWorld.Slice(one).Entries.Count));
        }
        Assert.True(during >= 20 && reads > 1000, $"in {during} of 34 runs before the end of the transfer; {reads} reads");
    }

    private static void Fill(DhtWorld world)
    {
        var map = world.Members[0].Dht.Map<string, string>("m");
        var puts = Enumerable.Range(0, Keys).Select(i => map.OrderedPutAsync($"{i}_0", new string('x', 20_000)).AsTask()).ToList();
        world.RunUntil(() => puts.TrueForAll(put => put.IsCompletedSuccessfully), "The puts");
        world.Settle();
    }

    /// <summary>One reader per member, of one or two keys; deliveries at random.</summary>
    private sealed class Readers(DhtWorld world)
    {
        private readonly Task<IReadOnlyDictionary<string, Versioned<string>>>?[] _reads = new Task<IReadOnlyDictionary<string, Versioned<string>>>?[world.Members.Count];
        private readonly int[] _asked = new int[world.Members.Count];

        public int Completed { get; private set; }

        public void Step()
        {
            for (int i = 0; i < _reads.Length; i++)
            {
                if (!world.Members[i].Alive) _reads[i] = null;
                else if (_reads[i] is null or { IsCompleted: true }) Read(i);
            }
            var busy = world.Busy();
            if (busy.Count == 0 || world.Random.Next(10) == 0) world.Advance(TimeSpan.FromMicroseconds(300));
            else
            {
                var (from, to) = busy[world.Random.Next(busy.Count)];
                world.Deliver(from, to);
            }
        }

        /// <summary>Every read ends: with all values, or, when the shard was lost, with the exception that says so.</summary>
        public void Finish(bool lost)
        {
            for (int i = 0; i < _reads.Length; i++)
            {
                if (!world.Members[i].Alive || _reads[i] is not { } read) continue;
                world.RunUntil(() => read.IsCompleted, "The read");
                if (lost) Assert.IsType<ShardDepopulatedException>(read.Exception?.InnerException);
                else Look(i, read);
            }
        }

        private void Read(int member)
        {
            if (_reads[member] is { } last && last.Exception?.InnerException is not ShardDepopulatedException) Look(member, last);
            string[] keys = [.. Enumerable.Range(0, 1 + world.Random.Next(2)).Select(i => $"{(i * 20) + world.Random.Next(20)}_0")];
            _asked[member] = keys.Length;
            _reads[member] = world.Members[member].Dht.Map<string, string>("m").OrderedGetAsync(keys).AsTask();
            world.Poke();
        }

        private void Look(int member, Task<IReadOnlyDictionary<string, Versioned<string>>> read)
        {
            Assert.True(read.IsCompletedSuccessfully, read.Exception?.ToString());
            Assert.True(read.Result.Count == _asked[member] && read.Result.Values.All(found => found.Value.Length == 20_000), "an empty read");
            Completed++;
        }
    }
}
