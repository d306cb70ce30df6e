using System.Buffers;
using Ida.Kinds;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Transfer;

/// <summary>Sessions and outcomes as bytes. They are part of the shard's state: without them a newcomer would apply a retry twice.</summary>
internal static class SessionCodec
{
    private const int HeadBytes = 37;

    /// <summary>
    /// Goes on writing a cut, up to about <paramref name="most"/> bytes (more only for a single outcome); true when all is written. Each piece
    /// names the session that it goes on with, so that it can be read by itself.
    /// </summary>
    public static bool Write(SessionTableCut cut, ref SessionPlace place, ArrayBufferWriter<byte> into, int most)
    {
        for (; place.Session < cut.Count; place = new(place.Session + 1, 0, 0))
        {
            var session = cut[place.Session];
            if (into.WrittenCount > 0 && into.WrittenCount + HeadBytes > most) return false;
            WriteHead(into, session);
            while (place.Written < session.Count && session.TryNext(place.Next, out var outcome))
            {
                int size = SizeOf(outcome);
                if (into.WrittenCount > HeadBytes && into.WrittenCount + size > most) return false;
                Write(into, outcome, size);
                place = new(place.Session, place.Written + 1, outcome.Sequence + 1);
            }
        }
        return true;
    }

    private static void WriteHead(ArrayBufferWriter<byte> bytes, SessionCut session)
    {
        var to = new BodyWriter(bytes.GetSpan(HeadBytes));
        to.U8(1);
        to.U128(session.Id);
        to.Var(session.AckedBelow);
        to.Var(session.LostIn);
        bytes.Advance(to.Length);
    }

    private static int SizeOf(in Outcome outcome) => 61 + (10 * outcome.Versions.Count) + PutReportCodec.SizeOf(outcome.Report);

    private static void Write(ArrayBufferWriter<byte> bytes, in Outcome outcome, int size)
    {
        int count = outcome.Versions.Count;
        var to = new BodyWriter(bytes.GetSpan(size));
        to.U8(0);
        to.Var(outcome.Sequence);
        to.Var(outcome.View);
        to.Var(((ulong)outcome.Attempt << 1) | (outcome.Reissued ? 1UL : 0));
        to.U64(outcome.Payload);
        to.Var((ulong)count);
        for (int i = 0; i < count; i++) to.Var(outcome.VersionAt(i));
        PutReportCodec.Write(ref to, outcome.Report);
        bytes.Advance(to.Length);
    }

    /// <summary>Reads a piece that <see cref="Write(SessionTableCut, ref SessionPlace, ArrayBufferWriter{byte}, int)"/> wrote; false if it is something else (what was read stays).</summary>
    /// <param name="from">The piece.</param>
    /// <param name="into">The sessions to which the piece is added.</param>
    /// <param name="rules">The rules of the DHT.</param>
    /// <param name="overtaken">Called for each put whose outcome is not kept, because its acknowledgement was here first.</param>
    public static bool Read(ref BodyReader from, SessionTable into, DhtRules rules, Action<OperationId>? overtaken = null)
    {
        Session? session = null;
        Span<ulong> few = stackalloc ulong[PutVersions.Inline];
        while (from.Remaining > 0)
        {
            byte kind = from.U8();
            if (kind == 1)
            {
                UInt128 id = from.U128();
                ulong acknowledged = from.Var(), lost = from.Var();
                if (from.Failed || lost == Session.NotHeard) return false;
                session = into.Receive(id);
                if (session is null) return false;
                session.Receive(acknowledged);
                session.LostIn = lost;
                continue;
            }
            if (kind != 0 || session is null) return false;
            ulong sequence = from.Var(), view = from.Var();
            ulong attempt = from.Var(), payload = from.U64();
            int count = from.Count(DhtLimits.Keys, 1);
            if (count == 0 || attempt >> 33 != 0) return false;
            var versions = count <= few.Length ? few[..count] : new ulong[count];
            for (int i = 0; i < count; i++) versions[i] = from.Var();
            var report = PutReportCodec.Read(ref from, count);
            if (from.Failed) return false;
            if (sequence < session.AckedBelow) overtaken?.Invoke(new(session.Id, sequence));
            if (rules.OutcomeInTransfer) into.Record(session, new(sequence, view, (uint)(attempt >> 1), (attempt & 1) != 0, payload, new(versions), report));
        }
        return from.Complete;
    }
}
