using System.Diagnostics;
using GroupCore.Wire;
using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>
/// An answer with values that waits for room on the asker's link: the bytes before the values in its frame, and the values themselves, which
/// are the slice's own arrays and never change, with the method that writes them. An answer that tells how a put ended is entirely in the bytes before.
/// </summary>
internal sealed class DueAnswer(FrameType type, AttemptId key, byte[] head, (byte[]? Value, ulong Version)[] values, DueValues? write = null)
{
    public FrameType Type => type;

    /// <summary>
    /// What it answers. Without a payload, the operation: its only issuer numbers the attempts, and waits only for the last one. With a payload, the attempt: several
    /// members number theirs independently, and one asker may wait for its own attempts and for those that it takes over. A one-key read has no session.
    /// </summary>
    public AttemptId Question => key.Payload == 0 ? new(key.Id, 0) : key;

    public uint Attempt => key.Attempt;

    /// <summary>The previous answer to the same question, as long as it waits too.</summary>
    public LinkedListNode<DueAnswer>? Before { get; set; }

    /// <summary>Bytes that the answer keeps alive, at most.</summary>
    public int Bytes { get; } = head.Length + values.Sum(static one => OperationKind.Get.SizeOfResult(one.Value));

    /// <summary>Writes the body of its frame.</summary>
    public void Write(ref BodyWriter to)
    {
        Debug.Assert(write is not null || values.Length == 0, "Nothing writes the values.");
        to.Raw(head);
        write?.Invoke(ref to, values);
    }
}
