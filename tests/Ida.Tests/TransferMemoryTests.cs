using System.Runtime.CompilerServices;
using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>What a transfer makes a source and a newcomer keep, however long it takes and whatever is written or sent meanwhile.</summary>
public sealed class TransferMemoryTests
{
    private const int Source = 0, Newcomer = 4;

    /// <summary>The key is absent at the view change, and comes and goes as long as the transfer lasts: its entries do not pile up at either member.</summary>
    [Fact]
    public void R_a_key_that_comes_and_goes_during_a_transfer_leaves_nothing()
    {
        const int Rounds = 100;
        var world = Filled(400, 2_000);
        // No chunk is acknowledged, so only the first ranges come.
        world.Swallows = static (_, _, type) => type == DhtFrame.ChunkAck;
        Join(world);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        var entries = new List<(int Member, WeakReference Entry)>();
        for (int round = 0; round < Rounds; round++)
        {
            Finish(world, map.MergePairAsync("new_0", 1).AsTask());
            entries.Add((Source, EntryOf(world.Members[Source])));
            entries.Add((Newcomer, EntryOf(world.Members[Newcomer])));
            Finish(world, map.RemoveAsync(["new_0"]).AsTask());
        }
        Assert.False(world.Members[Newcomer].Host.Current!.State.Initialised);
        Assert.True(world.Members[Source].Host.Current!.Source.HasWork);
        GC.Collect();
        Assert.InRange(entries.Count(static one => one is { Member: Source, Entry.IsAlive: true }), 0, 5);
        Assert.InRange(entries.Count(static one => one is { Member: Newcomer, Entry.IsAlive: true }), 0, 5);
        GC.KeepAlive(world);
    }

    /// <summary>The next view has a transfer too, as where views follow each other faster than a newcomer loads.</summary>
    [Fact]
    public void R_what_a_transfer_kept_is_given_back_though_another_one_follows_it()
    {
        var world = Filled(400, 2_000);
        world.Swallows = static (_, _, type) => type == DhtFrame.ChunkAck || type == DhtFrame.StateEnd;
        Join(world);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        Finish(world, map.PutAsync(Enumerable.Range(0, 400).Select(static i => KeyValuePair.Create($"{i}_0", (string?)"new"))).AsTask());
        Assert.Equal(400, Kept(world.Members[Source]));
        world.ChangeView();
        for (int i = 0; i < 10; i++) world.Advance(TimeSpan.FromMilliseconds(2));
        Finish(world, map.PutAsync("7_0", "newer").AsTask());
        Assert.False(world.Members[Newcomer].Host.Current!.State.Initialised);
        Assert.Equal(1, Kept(world.Members[Source]));
        world.Swallows = null;
        world.ChangeView();
        world.Settle();
        for (int i = 0; i < 10; i++) world.Advance(TimeSpan.FromMilliseconds(2));
        Assert.Equal(0, Kept(world.Members[Source]));
        Assert.Equal(DhtWorld.Slice(world.Members[Source]).Digest, DhtWorld.Slice(world.Members[Newcomer]).Digest);

        static int Kept(HarnessMember member) => member.Host.Current!.Participant.Slice.Snapshot.KeptCount;
    }

    /// <summary>The entry of such a key stays as long as the snapshot needs its value, but its queue does not.</summary>
    [Fact]
    public void A_key_that_is_removed_during_a_transfer_rests_and_goes_when_the_transfer_is_over()
    {
        var world = Filled(400, 2_000);
        world.Swallows = static (_, _, type) => type == DhtFrame.ChunkAck;
        Join(world);
        var source = world.Members[Source].Host.Current!.Participant;
        var map = world.Members[1].Dht.Map<string, string>("texts");
        // The last key had no value when the view began, so there is nothing of it to keep.
        Finish(world, map.PutAsync("new_0", "new").AsTask());
        Finish(world, map.RemoveAsync(["7_0", "8_0", "new_0"]).AsTask());
        Assert.Equal((0, 400, 2), (source.KeysInUse, source.Slice.Table.Count, source.Slice.Snapshot.KeptCount));
        Assert.Equal(0, world.Members[Newcomer].Host.Current!.Participant.KeysInUse);
        Finish(world, map.PutAsync("8_0", "again").AsTask());
        Assert.Equal((0, 400, 2), (source.KeysInUse, source.Slice.Table.Count, source.Slice.Snapshot.KeptCount));
        world.Swallows = null;
        world.ChangeView();
        world.Settle();
        for (int i = 0; i < 10; i++) world.Advance(TimeSpan.FromMilliseconds(2));
        Assert.Equal((0, 399, 0), (source.KeysInUse, source.Slice.Table.Count, source.Slice.Snapshot.KeptCount));
        Assert.Equal(DhtWorld.Slice(world.Members[Source]).Digest, DhtWorld.Slice(world.Members[Newcomer]).Digest);
        Assert.Equal(399, world.Members[Newcomer].Host.Current!.Participant.Slice.Table.Count);
    }

    /// <summary>A source that lies sends outcomes of a member's puts without end, in pieces none of which is the last.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_a_state_with_more_outcomes_than_members_remember_is_refused(bool lost)
    {
        const int Pieces = 16, PerPiece = 30_000, InFlight = 1;
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = InFlight, MaxInFlightBytes = 1 << 20, MaxOutcomeBytes = 4_096 } });
        world.Settle();
        world.Swallows = static (from, to, type) => from == Source && to == Newcomer && type == DhtFrame.StateEnd;
        Join(world);
        world.Poke();
        world.DeliverAll();
        var victim = world.Members[Newcomer];
        var sessions = victim.Host.Current!.Participant.Sessions;
        var session = lost ? 1_000_000 : world.Members[1].Host.Current!.State.Session;
        for (int piece = 0; piece < Pieces; piece++)
        {
            var to = new BodyWriter(new byte[1 << 20]);
            to.U8(0);
            to.U64(1);
            to.U8(1);
            to.U128(session);
            to.Var(0);
            to.Var(lost ? 1UL : 0);
            for (int i = 0; i < PerPiece; i++)
            {
                to.U8(0);
                to.Var((ulong)(1 + (piece * PerPiece) + i));
                to.Var(1);
                to.Var(1 << 1);
                to.U64(77);
                to.Var(1);
                to.Var(1);
                to.Blob([]);
            }
            victim.Deliver(new(DhtFrame.StateEnd, to.Written.ToArray(), world.View!.Id, Source));
        }
        // The bound of each member, five times as much for those that are gone, and the piece with which the bound was reached.
        const int Members = 5;
        Assert.InRange(sessions.All.Sum(static one => one.OutcomeBytes), 1, ((Members + 5) * ((1 << 20) + 4_096 + (InFlight * DhtLimits.ValueBytes))) + (PerPiece * 96));
        Assert.InRange(victim.Node.Counters.Refused(RefusalReason.Malformed), Pieces - 6, Pieces - 1);
        Assert.False(victim.Host.Current.State.Initialised);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference EntryOf(HarnessMember member)
    {
        var entries = new List<Entry>();
        for (int range = 0; range < EntryTable.Ranges; range++)
        {
            member.Host.Current!.Participant.Slice.Table.Collect(range, entries);
            if (entries.Find(static entry => entry.Key.AsSpan().EndsWith("new_0"u8)) is { } found) return new(found);
        }
        throw new InvalidOperationException("The key is not there.");
    }

    private static DhtWorld Filled(int keys, int bytes)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, string>("texts");
        var puts = Enumerable.Range(0, keys).Select(i => map.PutAsync($"{i}_0", new string('x', bytes)).AsTask()).ToList();
        world.RunUntil(() => puts.TrueForAll(static put => put.IsCompletedSuccessfully), "The puts");
        world.Settle();
        return world;
    }

    private static void Join(DhtWorld world)
    {
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Assert.Equal((0, false), (late.Host.Current!.State.Shard, late.Host.Current.State.Initialised));
    }

    /// <summary>Runs a call to its end, and what it causes at replicas.</summary>
    private static void Finish(DhtWorld world, Task<PutResult> call)
    {
        world.RunUntil(() => call.IsCompleted, "The put");
        for (int i = 0; i < 10; i++) world.Advance(TimeSpan.FromMilliseconds(2));
        world.DeliverAll();
        Assert.True(call.IsCompletedSuccessfully, call.Exception?.ToString());
    }
}
