using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>Get and Value: a read of one key at one member, which takes no place in the order.</summary>
internal sealed partial class DhtMessages
{
    /// <summary>Request var, attempt var, index of the key in the call var, level u8, key.</summary>
    public void Get(int to, ulong request, uint attempt, int index, ConsistencyLevel level, ReadOnlySpan<byte> key)
    {
        var body = send.Room(30 + key.Length);
        body.Var(request);
        body.Var(attempt);
        body.Var((ulong)index);
        body.U8((byte)level);
        body.Blob(key);
        send.Send(to, DhtFrame.Get, body.Length);
    }

    public void OnGet(int from, ref BodyReader body)
    {
        ulong request = body.Var(), attempt = body.Var(), index = body.Var();
        byte level = body.U8();
        var key = body.Blob(DhtLimits.KeyBytes);
        bool whole = body.Complete && key.Length >= KeyIdentity.MapBytes;
        if (!whole || attempt > uint.MaxValue || index >= DhtLimits.Keys)
        {
            Refuse(RefusalReason.Malformed);
            return;
        }
        if (!LiesHere(key, out _, out ulong place)) Value(from, request, (uint)attempt, (int)index, ReadStatus.Misplaced, null, 0);
        else if (!state.Initialised && state.Rules.OnlyInitialisedAnswers) Value(from, request, (uint)attempt, (int)index, ReadStatus.NotInitialised, null, 0);
        else if (OwesTooMuch(from)) Value(from, request, (uint)attempt, (int)index, ReadStatus.Overloaded, null, 0);
        else if (Participant.Reads.TryRead(key, place, out byte[]? value, out ulong version)) Value(from, request, (uint)attempt, (int)index, ReadStatus.Found, value, version);
        else
        {
            var wait = Participant.Reads.New();
            (wait.Rank, wait.Request, wait.Attempt, wait.LocalIndex) = (from, request, (uint)attempt, (int)index);
            wait.Level = level == (byte)ConsistencyLevel.Ordered ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict;
            if (!Participant.Read(wait, key, place)) Value(from, request, (uint)attempt, (int)index, ReadStatus.Overloaded, null, 0);
        }
    }

    public void Value(ReadWait wait)
    {
        if (wait.Local) _values.Enqueue(new(wait.Request, wait.Attempt, wait.LocalIndex, wait.Value, wait.Version));
        else Value(wait.Rank, wait.Request, wait.Attempt, wait.LocalIndex, ReadStatus.Found, wait.Value, wait.Version);
    }

    /// <summary>Request, attempt and index of the question, status u8, version var; the value is the rest.</summary>
    private void Value(int to, ulong request, uint attempt, int index, ReadStatus status, byte[]? value, ulong version)
    {
        bool waits = value is not null && MustWait(to);
        var body = send.Room(48 + (waits ? 0 : value?.Length ?? 0));
        body.Var(request);
        body.Var(attempt);
        body.Var((ulong)index);
        body.U8((byte)(value is null && status == ReadStatus.Found ? ReadStatus.Absent : status));
        body.Var(version);
        if (waits)
        {
            _due.Add(to, new(DhtFrame.Value, new(new(0, request), attempt), body.Written.ToArray(), [(value!, version)], WriteWaitingValue));
            return;
        }
        if (value is not null) body.Raw(value);
        send.Send(to, DhtFrame.Value, body.Length);
    }

    /// <summary>The rest of a Value that waited.</summary>
    public static void WriteWaitingValue(ref BodyWriter to, (byte[]? Value, ulong Version)[] values) => to.Raw(values[0].Value);

    public void OnValue(int from, ref BodyReader body)
    {
        ulong request = body.Var(), attempt = body.Var(), index = body.Var();
        var status = (ReadStatus)body.U8();
        ulong version = body.Var();
        if (body.Failed || attempt > uint.MaxValue || index >= DhtLimits.Keys || status > ReadStatus.Misplaced || body.Remaining > DhtLimits.ValueBytes)
            Refuse(RefusalReason.Malformed);
        else Coordinator.OnValue(from, request, (uint)attempt, (int)index, status, version, body.Bytes(body.Remaining));
    }
}
