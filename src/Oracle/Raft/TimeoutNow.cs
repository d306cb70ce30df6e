using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Raft;

/// <summary>The leader asks the voter to which it hands over to stand for election at once.</summary>
internal sealed record TimeoutNow(ulong Term) : IFrame
{
    public FrameType Type => FrameType.TimeoutNow;

    public int Fields => 1;

    public void Write(ref MessagePackWriter writer) => writer.WriteUInt(Term);

    public static TimeoutNow Parse(ref MessagePackReader reader) => new(WireFormat.ReadPlace(ref reader));
}
