using System.Buffers;
using System.Text;
using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Transfer;

/// <summary>Sessions and outcomes as bytes: they are state of the shard, or a retry would be applied twice at a newcomer.</summary>
internal static class SessionCodec
{
    public static byte[] Write(SessionTable sessions)
    {
        var bytes = new ArrayBufferWriter<byte>(1024);
        Append(bytes, 10, (ulong)sessions.All.Count);
        foreach (var session in sessions.All)
        {
            var to = new BodyWriter(bytes.GetSpan(48));
            to.U128(session.Id);
            to.Var(session.AckedBelow);
            to.Var(session.LostIn);
            to.Var((ulong)session.OutcomeCount);
            bytes.Advance(to.Length);
            for (int i = 0; i < session.OutcomeCount; i++) Write(bytes, session.OutcomeAt(i));
        }
        return bytes.WrittenSpan.ToArray();
    }

    private static void Append(ArrayBufferWriter<byte> bytes, int room, ulong value)
    {
        var to = new BodyWriter(bytes.GetSpan(room));
        to.Var(value);
        bytes.Advance(to.Length);
    }

    private static void Write(ArrayBufferWriter<byte> bytes, in Outcome outcome)
    {
        int count = outcome.Versions.Count;
        int size = 60;
        for (int i = 0; i < count; i++) size += 20 + 4 * (outcome.ErrorAt(i)?.Length ?? 0);
        var to = new BodyWriter(bytes.GetSpan(size));
        to.Var(outcome.Sequence);
        to.Var(outcome.View);
        to.Var(((ulong)outcome.Attempt << 1) | (outcome.Reissued ? 1UL : 0));
        to.U64(outcome.Payload);
        to.Var((ulong)count);
        for (int i = 0; i < count; i++)
        {
            to.Var(outcome.VersionAt(i));
            to.Blob(outcome.ErrorAt(i) is { } text ? Encoding.UTF8.GetBytes(text) : []);
        }
        bytes.Advance(to.Length);
    }

    /// <summary>Reads what <see cref="Write(SessionTable)"/> wrote; false, with whatever was read before, when it is something else.</summary>
    public static bool Read(ReadOnlySpan<byte> bytes, SessionTable into, Rule without)
    {
        var from = new BodyReader(bytes);
        int sessions = from.Count(int.MaxValue, 19);
        Span<ulong> few = stackalloc ulong[PutVersions.Inline];
        for (int s = 0; s < sessions && !from.Failed; s++)
        {
            var session = into.GetOrAdd(from.U128());
            session.Acknowledge(from.Var());
            session.LostIn = from.Var();
            int outcomes = from.Count(int.MaxValue, 14);
            for (int o = 0; o < outcomes && !from.Failed; o++)
            {
                ulong sequence = from.Var(), view = from.Var();
                ulong attempt = from.Var(), payload = from.U64();
                int count = from.Count(DhtLimits.Keys, 2);
                if (count == 0 || attempt >> 33 != 0) from.Fail();
                var versions = count <= few.Length ? few[..count] : new ulong[count];
                string?[]? errors = null;
                for (int i = 0; i < count; i++)
                {
                    versions[i] = from.Var();
                    var text = from.Blob(4 * DhtLimits.ErrorChars);
                    if (text.Length > 0) (errors ??= new string?[count])[i] = Encoding.UTF8.GetString(text);
                }
                if (!from.Failed && without != Rule.OutcomeInTransfer) session.Record(new(sequence, view, (uint)(attempt >> 1), (attempt & 1) != 0, payload, new(versions), errors));
            }
        }
        return from.Complete;
    }
}
