using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Members that die while a newcomer is given the state, and readers that read meanwhile.</summary>
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
            world.Members[Newcomer].Enable(world.Options, DhtWorld.Maps);
            world.ChangeView();
            var readers = new Readers(world);
            int until = world.Random.Next(250);
            for (int step = 0; step < until && !world.Members[Newcomer].Host.Current!.State.Initialised; step++) readers.Step();
            if (!world.Members[Newcomer].Host.Current!.State.Initialised) during++;
            if (source) world.Crash(world.Members[Source]);
            if (newcomer) world.Crash(world.Members[Newcomer]);
            for (int step = world.Random.Next(100); step > 0; step--) readers.Step();
            // What the source had sent may still make the newcomer initialised.
            bool lost = source && onlySource && (newcomer || !world.Members[Newcomer].Host.Current!.State.Initialised);
            world.ChangeView();
            for (int step = 0; step < 300; step++) readers.Step();
            readers.Finish(lost);
            reads += readers.Completed;
            foreach (var member in world.Members.Where(one => one.InView)) Assert.Equal(lost, member.Dht.Completion.IsFaulted);
            if (lost) continue;
            world.Settle();
            var initialised = world.Initialised(0);
            Assert.Equal(3 - (onlySource ? 1 : 0) - (source ? 1 : 0) - (newcomer ? 1 : 0), initialised.Count);
            Assert.All(initialised, one => Assert.Equal(Keys, DhtWorld.Slice(one).Entries.Count));
        }
        Assert.True(during >= 20 && reads > 1000, $"in {during} of 34 runs before the end of the transfer; {reads} reads");
    }

    /// <summary>
    /// A source that lies sends a text that is longer than any member keeps. Whoever passes it on, in an answer or to the next newcomer, reserves room only for as much as
    /// members keep.
    /// </summary>
    [Theory]
    [InlineData(400, (byte)'x', true)]
    [InlineData(450, (byte)0xFF, false)]
    public void R_texts_of_a_transfer_are_cut_as_those_of_a_put_are(int keys, byte text, bool asks)
    {
        const ulong Sequence = 1_001, Payload = 77;
        var world = DhtWorld.Founded(4);
        world.Settle();
        var (liar, victim) = (world.Members[Source], world.Add());
        world.ChangeView();
        victim.Enable(world.Options, DhtWorld.Maps);
        world.Swallows = (from, to, type) => from == Source && to == Newcomer && type == DhtFrame.StateEnd;
        world.ChangeView();
        world.Poke();
        world.DeliverAll();
        var session = liar.Host.Current!.State.Session;
        victim.Deliver(new(DhtFrame.StateEnd, State(session), world.View!.Id, liar.Rank));
        Assert.True(victim.Host.Current!.State.Initialised);
        int sent = 0;
        world.Swallows = (from, _, type) => from == Newcomer && type == DhtFrame.Executed && ++sent > 0;
        if (asks) victim.Deliver(new(DhtFrame.Propose, Proposal(), world.View.Id, liar.Rank));
        Assert.Equal(asks ? 1 : 0, sent);
        // The victim is the only member left that can give the state to the next newcomer.
        world.Crash(liar);
        world.Crash(world.Members[2]);
        world.ChangeView();
        var next = world.Add();
        world.ChangeView();
        next.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Assert.Equal((0, false), (next.Host.Current!.State.Shard, next.Host.Current.State.Initialised));
        world.Settle();
        Assert.True(next.Host.Current.State.Initialised);
        Assert.True(next.Host.Current.Participant.Sessions.Find(session)!.TryGet(Sequence, out var outcome));
        Assert.Equal((keys, DhtLimits.ErrorChars), (outcome.Versions.Count, outcome.Report!.Error!.Length));

        byte[] State(UInt128 id)
        {
            var bytes = new byte[1 << 19];
            var to = new BodyWriter(bytes);
            to.U8(1);
            to.U64(1);
            to.U8(1);
            to.U128(id);
            to.Var(0);
            to.Var(0);
            to.U8(0);
            to.Var(Sequence);
            to.Var(1);
            to.Var(1 << 1);
            to.U64(Payload);
            to.Var((ulong)keys);
            for (int i = 0; i < keys; i++) to.Var(1);
            to.U8(2);
            to.Var(0);
            byte[] error = [.. Enumerable.Repeat(text, 4 * DhtLimits.ErrorChars)];
            to.Blob(error);
            return to.Written.ToArray();
        }

        byte[] Proposal()
        {
            var bytes = new byte[1 << 16];
            var to = new BodyWriter(bytes);
            FrameHead.Write(ref to, liar.Rank, new(new(0, Sequence), 2));
            to.U8(1);
            to.U64(Payload);
            to.Var(0);
            to.U64(5);
            to.Var(1);
            to.Var((ulong)victim.Host.Current!.State.Slot);
            to.Var((ulong)keys);
            for (int i = 0; i < keys; i++)
            {
                to.Blob(DhtWorld.KeyOf("ints", (byte)(i >> 8), (byte)i, (byte)'0'));
                to.U8(KeyEffect.Remove.Number);
            }
            return to.Written.ToArray();
        }
    }

    /// <summary>A member that lies makes a member that waits for its state refuse attempts of many sessions that there never were: in others' names or its own.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_a_newcomer_remembers_so_many_refused_attempts_of_sessions_not_heard_and_no_more(bool issued)
    {
        const int Sessions = 100, Attempts = 1_000;
        var (world, victim) = Waiting();
        var participant = victim.Host.Current!.Participant;
        for (int i = 0; i < Sessions * Attempts; i++)
        {
            var key = new AttemptId(new((ulong)(1_000_000 + (i / Attempts)), (ulong)i + 1), 1, issued ? 77UL : 0);
            victim.Turn(() =>
            {
                if (!issued)
                {
                    participant.Recover(key, owner: -1, from: 0, OperationKind.Put, reject: true, withTime: false);
                    return;
                }
                var op = participant.Records.New();
                (op.Key, op.Payload, op.Kind, op.Issued) = (key, 77, OperationKind.Put, true);
                participant.Propose(op, from: 0, hint: 1, ackedBelow: 0);
            });
        }
        Assert.Equal(SessionTable.MostRefusedUnheard, participant.Sessions.All.Sum(static session => session.RefusedCount));
        // No promise is made that is not kept.
        Assert.Equal(SessionTable.MostRefusedUnheard, world.Waiting(Newcomer, 0));
        Assert.Equal((Sessions * Attempts) - SessionTable.MostRefusedUnheard, victim.Node.Counters.Refused(RefusalReason.Unexpected));
        // What is known of a session stays, and members' sessions do not count here.
        var known = new AttemptId(new(1_000_000, 1), 1, issued ? 77UL : 0);
        victim.Turn(() => participant.Recover(known, owner: -1, from: 0, OperationKind.Put, reject: true, withTime: false));
        victim.Turn(() => participant.Recover(new(new(world.Members[1].Host.Current!.State.Session, DhtWorld.Named), 1), owner: 1, from: 0, OperationKind.Put, reject: true, withTime: false));
        Assert.Equal(SessionTable.MostRefusedUnheard + 2, world.Waiting(Newcomer, 0));
        world.Swallows = null;
        world.ChangeView();
        world.Settle();
        Assert.True(victim.Host.Current.State.Initialised);
        Assert.Equal(4 + 1, participant.Sessions.All.Count);
    }

    /// <summary>A source that lies sends sessions without end, in pieces none of which is the last.</summary>
    [Fact]
    public void R_a_state_with_more_sessions_than_members_keep_is_refused()
    {
        const int Pieces = 20, PerPiece = 500;
        var (world, victim) = Waiting();
        var sessions = victim.Host.Current!.Participant.Sessions;
        int before = sessions.All.Count;
        for (int piece = 0; piece < Pieces; piece++)
        {
            var bytes = new byte[1 << 16];
            var to = new BodyWriter(bytes);
            to.U8(0);
            to.U64(1);
            for (int i = 0; i < PerPiece; i++)
            {
                to.U8(1);
                to.U128((UInt128)(1_000_000 + (piece * PerPiece) + i));
                to.Var(0);
                to.Var((ulong)(i % 2));
            }
            victim.Deliver(new(DhtFrame.StateEnd, to.Written.ToArray(), world.View!.Id, Source));
        }
        Assert.Equal(Pieces, victim.Node.Counters.Refused(RefusalReason.Malformed));
        Assert.Equal(before + SessionTable.KeptLost, sessions.All.Count);
    }

    /// <summary>A newcomer whose source does not tell it that it has the whole state.</summary>
    private static (DhtWorld World, HarnessMember Newcomer) Waiting()
    {
        var world = DhtWorld.Founded(4);
        world.Settle();
        var newcomer = world.Add();
        world.ChangeView();
        newcomer.Enable(world.Options, DhtWorld.Maps);
        world.Swallows = static (from, to, type) => from == Source && to == Newcomer && type == DhtFrame.StateEnd;
        world.ChangeView();
        world.Poke();
        world.DeliverAll();
        Assert.False(newcomer.Host.Current!.State.Initialised);
        return (world, newcomer);
    }

    private static void Fill(DhtWorld world)
    {
        var map = world.Members[0].Dht.Map<string, string>("texts");
        var puts = Enumerable.Range(0, Keys).Select(i => map.PutAsync($"{i}_0", new string('x', 20_000)).AsTask()).ToList();
        world.RunUntil(() => puts.TrueForAll(put => put.IsCompletedSuccessfully), "The puts");
        world.Settle();
    }

    /// <summary>One reader for each member, of one or two keys; frames are delivered at random.</summary>
    private sealed class Readers(DhtWorld world)
    {
        private readonly Task<EntryDictionary<string, string>>?[] _reads = new Task<EntryDictionary<string, string>>?[world.Members.Count];
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
            _reads[member] = world.Members[member].Dht.Map<string, string>("texts").GetAsync(keys).AsTask();
            world.Poke();
        }

        private void Look(int member, Task<EntryDictionary<string, string>> read)
        {
            Assert.True(read.IsCompletedSuccessfully, read.Exception?.ToString());
            Assert.True(read.Result.Count == _asked[member] && read.Result.Values.All(static value => value.Length == 20_000), "an empty read");
            Completed++;
        }
    }
}
