using GroupCore.Wire;
using Ida.Ordering;

namespace Ida.Wire;

/// <summary>
/// An answer with values that waits for room on the asker's link: the bytes before the values in its frame, and the values themselves, which
/// are the slice's own arrays and never change. An answer that tells how a put ended is all in the bytes before.
/// </summary>
internal sealed class DueAnswer(FrameType type, AttemptId key, byte[] head, (byte[]? Value, ulong Version)[] values)
{
    public FrameType Type => type;

    /// <summary>The asker's operation, and whose attempts at it: several members number theirs apart. A one-key read has no session.</summary>
    public (OperationId Id, ulong Payload) Operation => (key.Id, key.Payload);

    public uint Attempt => key.Attempt;

    /// <summary>The previous answer to the same operation, as long as it waits too.</summary>
    public LinkedListNode<DueAnswer>? Before { get; set; }

    /// <summary>Bytes that the answer keeps alive, at most.</summary>
    public int Bytes { get; } = head.Length + values.Sum(static one => 20 + (one.Value?.Length ?? 0));

    /// <summary>Writes the body of its frame.</summary>
    public void Write(ref BodyWriter to)
    {
        to.Raw(head);
        // Of a put, everything is in the bytes before.
        if (values.Length == 0) return;
        if (type == DhtFrame.Value)
        {
            to.Raw(values[0].Value);
            return;
        }
        to.Var((ulong)values.Length);
        foreach (var (value, version) in values) DhtSender.ReadResult(ref to, value, version);
    }
}
