using GroupCore.Runtime;
using Ida.Coordination;
using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>AskEnd and End: a retry asks the member of the session how the put that it repeats ended.</summary>
internal sealed partial class DhtMessages
{
    /// <summary>An attempt.</summary>
    public void AskEnd(int to, in AttemptId op, int owner) => SendAttempt(to, DhtFrame.AskEnd, op, owner);

    public void OnAskEnd(int from, ref BodyReader body)
    {
        var key = ReadAttempt(ref body, out int owner);
        if (!body.Complete || owner != state.Rank) Refuse(RefusalReason.Malformed);
        else Coordinator.OnAskEnd(from, key);
    }

    /// <summary>The attempt asked about, status u8, count var, then version var and report of each key.</summary>
    public void End(int to, in AttemptId op, int owner, EndStatus status, KnownEnd? end)
    {
        int count = end?.Versions.Count ?? 0, size = AttemptBytes + 6 + (count * 10);
        for (int i = 0; i < count; i++) size += PutReportCodec.SizeOf(end!.ReportAt(i));
        var body = send.Room(size);
        WriteAttempt(ref body, op, owner);
        body.U8((byte)status);
        body.Var((ulong)count);
        for (int i = 0; i < count; i++)
        {
            body.Var(end!.Versions[i]);
            PutReportCodec.Write(ref body, end.ReportAt(i));
        }
        if (count > 0 && MustWait(to))
        {
            // A member that is owed too much gets no answer; it asks again.
            if (!OwesTooMuch(to)) _due.Add(to, new(DhtFrame.End, op, body.Written.ToArray(), []));
            return;
        }
        send.Send(to, DhtFrame.End, body.Length);
    }

    public void OnEnd(int from, ref BodyReader body)
    {
        var key = ReadAttempt(ref body, out _);
        var status = (EndStatus)body.U8();
        int count = body.Count(DhtLimits.Keys, 2);
        if (!Coordinator.TryAsking(from, key, out var op)) return;
        if (status > EndStatus.NeverGiven || (count > 0 && (status != EndStatus.Executed || count != op.PartCount)) || !IsWholeEnd(body, count))
        {
            Refuse(RefusalReason.Malformed);
            return;
        }
        for (int i = 0; i < count; i++) (op.Parts[i].Version, op.Parts[i].Report) = (body.Var(), PutReportCodec.Read(ref body, count));
        Coordinator.OnEnd(op, status, count > 0);
    }

    private static bool IsWholeEnd(BodyReader body, int count)
    {
        for (int i = 0; i < count && !body.Failed; i++)
        {
            _ = body.Var();
            PutReportCodec.Skip(ref body, count);
        }
        return body.Complete;
    }
}
