using System.Buffers;
using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Ordering;
using Ida.Shared;
using Ida.Transfer;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>What a participant remembers of refused attempts is bounded, and yet it never forgets that it refused one.</summary>
public sealed class SessionTests
{
    [Theory]
    [InlineData(1, false)]
    [InlineData(300_000, false)]
    [InlineData(1, true)]
    public void F24_refused_attempts_stay_refused_in_bounded_memory(int perOperation, bool acknowledges)
    {
        var session = new Session(7);
        var refused = new List<AttemptId>();
        for (int i = 0; i < 300_000; i++)
        {
            var key = new AttemptId(new(7, 1 + (ulong)(i / perOperation)), 1 + (uint)(i % perOperation));
            session.Reject(key);
            Assert.True(session.IsRejected(key));
            if (acknowledges && i % 1_000 == 0) session.Acknowledge(key.Id.Sequence);
            if (i % 50 == 0) refused.Add(key);
            Assert.InRange(session.RejectedCount, 0, Session.MostRejected);
        }
        Assert.All(refused, key => Assert.True(session.IsRejected(key)));
        // New puts are not refused along with the old ones; and none is where acknowledgements keep the memory short.
        Assert.False(session.IsRejected(new(new(7, 400_000), 1)));
        if (acknowledges) Assert.False(session.IsRejected(new(new(7, 299_500), 1, 5)));
        session.ForgetRejected();
        if (!acknowledges) Assert.False(session.IsRejected(refused[0]));
    }

    /// <summary>What members other than the issuer name is refused, and nothing else. When no more can be remembered, nothing is promised.</summary>
    [Fact]
    public void R_attempts_refused_by_the_word_of_others_are_bounded_and_refuse_no_other()
    {
        var session = new Session(7);
        for (uint i = 0; i < Session.MostRejected; i++) Assert.True(session.TryRejectAlone(new(new(7, 1 + (i % 64)), uint.MaxValue - i)));
        Assert.True(session.TryRejectAlone(new(new(7, 1), uint.MaxValue)));
        Assert.False(session.TryRejectAlone(new(new(7, 100), 1)));
        Assert.False(session.IsRejected(new(new(7, 100), 1)));
        Assert.False(session.IsRejected(new(new(7, 1), 1)));
        session.Reject(new(new(7, 100), 1));
        Assert.True(session.IsRejected(new(new(7, 100), 1)));
        session.Acknowledge(2);
        Assert.True(session.TryRejectAlone(new(new(7, 100), 3)));
        Assert.False(session.IsRejected(new(new(7, 100), 2)));
        session.ForgetRejected();
        Assert.False(session.IsRejected(new(new(7, 100), 3)));
    }

    /// <summary>An issuer that issues a put again and again, because a member refuses it while it loads, has many refused attempts of few puts.</summary>
    [Fact]
    public void R_many_refused_attempts_of_some_puts_refuse_no_later_ones()
    {
        var session = new Session(7);
        for (uint attempt = 1; attempt <= 200; attempt++)
            for (ulong put = 1; put <= 100; put++)
                foreach (ulong payload in (ulong[])[0, 9]) session.Reject(new(new(7, put), attempt, payload));
        Assert.InRange(session.RejectedCount, 1, 200);
        foreach (ulong payload in (ulong[])[0, 9])
        {
            Assert.True(session.IsRejected(new(new(7, 50), 1, payload)) && session.IsRejected(new(new(7, 50), 200, payload)));
            Assert.False(session.IsRejected(new(new(7, 50), 201, payload)));
        }
        Assert.False(session.IsRejected(new(new(7, 50), 1, 10)));
        // With more puts than are remembered one by one, their next attempts are still taken.
        for (ulong put = 101; put <= 20_000; put++) session.Reject(new(new(7, put), 3));
        Assert.True(session.IsRejected(new(new(7, 50), 200, 9)));
        Assert.False(session.IsRejected(new(new(7, 50), 201, 9)));
    }

    /// <summary>What owners acknowledge and record while the pieces are written does not show in them.</summary>
    [Fact]
    public void R_pieces_of_sessions_are_those_of_the_view_change_whatever_owners_do_meanwhile()
    {
        var random = new Prng(7);
        var sessions = new SessionTable();
        for (ulong id = 1; id <= 6; id++)
        {
            var session = sessions.GetOrAdd(id);
            session.LostIn = id == 4 ? 3UL : 0;
            for (ulong sequence = 1; sequence <= (id == 3 ? 0UL : 1_500); sequence++)
                if (random.Next(5) > 0) session.Record(Outcome(sequence, 4, random));
            if (id != 5) session.Acknowledge(100 * id);
        }
        var expected = Texts(sessions);
        var cut = new SessionTableCut(sessions, 5);
        var read = new SessionTable();
        var place = new SessionPlace();
        int pieces = 0;
        for (bool done = false; !done; pieces++)
        {
            foreach (var session in sessions.All)
            {
                session.Acknowledge(session.AckedBelow + (ulong)random.Next(60));
                for (int i = 0; i < 30; i++) session.Record(Outcome(1 + (ulong)random.Next(1_800), 5, random));
            }
            var piece = new ArrayBufferWriter<byte>();
            done = SessionCodec.Write(cut, ref place, piece, 4_096);
            Assert.InRange(piece.WrittenCount, 1, 4_096 + 1_000);
            var body = new BodyReader(piece.WrittenSpan);
            Assert.True(SessionCodec.Read(ref body, read, DhtRules.All));
        }
        Assert.InRange(pieces, 40, 400);
        Assert.Equal(expected, Texts(read));
        cut.End();
        Assert.All(sessions.All, session => Assert.Null(session.Cut));

        static Outcome Outcome(ulong sequence, ulong view, Prng random)
        {
            int keys = 1 + random.Next(random.Next(20) == 0 ? 40 : 3);
            var report = random.Next(40) switch
            {
                0 => new PutReport(Verdict.Failed, random.Next(keys), "refused", null),
                1 => new PutReport(Verdict.NotMet, random.Next(keys), null, null),
                2 => new PutReport(Verdict.Applied, 0, null, null),
                3 => new PutReport(Verdict.Applied, 0, null, new byte[random.Next(1_000)]),
                _ => null,
            };
            return new(sequence, view, (uint)random.Next(9), random.Next(2) == 0, random.NextUInt64(), new([.. Enumerable.Range(0, keys).Select(_ => random.NextUInt64())]), report);
        }

        static List<string> Texts(SessionTable table)
        {
            var texts = new List<string>();
            foreach (var session in table.All)
            {
                texts.Add($"{session.Id} {session.AckedBelow} {session.LostIn} {session.OutcomeBytes}");
                for (int i = 0; i < session.OutcomeCount; i++)
                {
                    var one = session.OutcomeAt(i);
                    texts.Add($"{one.Sequence} {one.View} {one.Attempt} {one.Reissued} {one.Payload} {string.Join(' ', one.Versions)} {one.Report?.Verdict} {one.Report?.Culprit} {one.Report?.Error} {one.Report?.Value?.Length}");
                }
            }
            return texts;
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_the_bytes_of_outcomes_are_counted_and_given_back(bool many)
    {
        var session = new Session(7);
        for (ulong i = 1; i <= 20_000; i++) session.Record(new(i, 1, 1, false, 1, new(new ulong[many ? 500 : 2]), many ? new PutReport(Verdict.Failed, 1, new('x', 200), null) : null));
        Assert.InRange(session.OutcomeBytes, 20_000 * (many ? 4_400 : 90), 20_000 * (many ? 5_000 : 120));
        session.Acknowledge(10_001);
        Assert.InRange(session.OutcomeBytes, 10_000 * (many ? 4_400 : 90), 10_000 * (many ? 5_000 : 120));
        session.Acknowledge(30_000);
        Assert.Equal((0L, 0), (session.OutcomeBytes, session.OutcomeCount));
    }

    [Fact]
    public void R_a_few_outcomes_that_are_left_keep_no_room_for_all_that_were()
    {
        var session = new Session(7);
        for (ulong i = 1; i <= 200_000; i++) session.Record(new(i, 1, 1, false, 1, new([i]), null));
        session.Acknowledge(199_991);
        Assert.Equal(10, session.OutcomeCount);
        Assert.InRange(session.Places, 10, 64);
        // It goes on as before.
        for (ulong i = 200_001; i <= 201_000; i++) session.Record(new(i, 1, 1, false, 1, new([i]), null));
        for (ulong i = 199_991; i <= 201_000; i++) Assert.True(session.TryGet(i, out var outcome) && outcome.Sequence == i);
    }

    /// <summary>Puts that were stuck end late, all in one turn, and their outcomes belong before those of all later puts.</summary>
    [Fact]
    public void R_outcomes_of_many_late_puts_are_recorded_in_time()
    {
        var session = new Session(7);
        for (ulong i = 100_001; i <= 300_000; i++) session.Record(new(i, 1, 1, false, 1, new([i]), null));
        var began = System.Diagnostics.Stopwatch.StartNew();
        for (ulong i = 20_000; i >= 1; i--) session.Record(new(i, 1, 1, false, 1, new([i]), null));
        // When each moved all later outcomes, this took 20 to 40 s.
        Assert.InRange(began.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(10));
        Assert.Equal(220_000, session.OutcomeCount);
        ulong before = 0;
        for (int i = 0; i < session.OutcomeCount; i++)
        {
            var outcome = session.OutcomeAt(i);
            Assert.True(outcome.Sequence > before && outcome.VersionAt(0) == outcome.Sequence);
            before = outcome.Sequence;
        }
        session.Acknowledge(200_000);
        Assert.True(session.TryGet(200_000, out _));
        Assert.False(session.TryGet(150_000, out _));
        Assert.Equal(100_001, session.OutcomeCount);
    }

    [Fact]
    public void R_outcomes_keep_their_order_however_they_come()
    {
        var random = new Prng(3);
        var session = new Session(7);
        var expected = new SortedSet<ulong>();
        ulong acknowledged = 0;
        for (int i = 0; i < 20_000; i++)
        {
            ulong sequence = acknowledged + (ulong)random.Next(400);
            session.Record(new(sequence, 1, 1, false, 1, new([sequence]), null));
            expected.Add(sequence);
            if (random.Next(20) > 0) continue;
            acknowledged += (ulong)random.Next(60);
            session.Acknowledge(acknowledged);
            expected.RemoveWhere(one => one < acknowledged);
            Assert.Equal(expected, Enumerable.Range(0, session.OutcomeCount).Select(at => session.OutcomeAt(at).Sequence));
            Assert.Equal(session.OutcomeCount * (long)new Outcome(1, 1, 1, false, 1, new([1]), null).Bytes, session.OutcomeBytes);
        }
    }

    [Fact]
    public void Sessions_of_members_lost_first_are_forgotten_and_the_last_are_kept()
    {
        var sessions = new SessionTable();
        for (uint i = 1; i <= 12_000; i++) sessions.GetOrAdd(i).LostIn = i % 100 == 0 ? 0 : 1 + (i / 7);
        sessions.GetOrAdd(30_000).LostIn = Session.NotHeard;
        sessions.Update([5, 20_000], 5_000, initialised: true, long.MaxValue);
        Assert.Equal(2 + SessionTable.KeptLost, sessions.All.Count);
        Assert.NotNull(sessions.Find(5));
        Assert.NotNull(sessions.Find(12_000));
        Assert.Null(sessions.Find(6));
        Assert.Null(sessions.Find(30_000));
    }

    /// <summary>A newcomer must not keep a session that its peers have forgotten, and whose outcomes it never had: a put would be applied again there.</summary>
    [Fact]
    public void A_session_that_nobody_knows_any_more_is_not_kept_where_it_was_asked_for_during_a_transfer()
    {
        var world = DhtWorld.Founded(4);
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Task<PutResult> Retry()
        {
            var put = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = new(77, 1) }).AsTask();
            world.RunUntil(() => put.IsCompleted, "A retry");
            return put;
        }
        Assert.False(late.Host.Current!.State.Initialised);
        Assert.IsType<OutcomeForgottenException>(Retry().Exception!.InnerException);
        world.ChangeView();
        world.Settle();
        world.Crash(world.Members[0]);
        world.Crash(world.Members[2]);
        world.ChangeView();
        Assert.Equal([late], world.Initialised(0));
        Assert.IsType<OutcomeForgottenException>(Retry().Exception!.InnerException);
    }
}
