using GroupCore.Wire;

namespace Ida.Wire;

/// <summary>
/// An answer with values that waits for room on the asker's link: what stands before the values in its frame, and the values themselves,
/// which are the slice's own arrays and never change.
/// </summary>
internal sealed class DueAnswer(FrameType type, byte[] head, (byte[]? Value, ulong Version)[] values)
{
    public FrameType Type => type;

    /// <summary>Bytes that it keeps alive, at most.</summary>
    public int Bytes
    {
        get
        {
            int bytes = head.Length;
            foreach (var (value, _) in values) bytes += 20 + (value?.Length ?? 0);
            return bytes;
        }
    }

    /// <summary>Writes the body of its frame.</summary>
    public void Write(ref BodyWriter to)
    {
        to.Raw(head);
        if (type == DhtFrame.Value)
        {
            to.Raw(values[0].Value);
            return;
        }
        to.Var((ulong)values.Length);
        foreach (var (value, version) in values) DhtSender.ReadResult(ref to, value, version);
    }
}
