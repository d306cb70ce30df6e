using GroupCore.Wire;
using Oracle.Frames;

namespace Oracle.Raft;

/// <summary>The leader asks its best follower to be elected at once.</summary>
internal sealed record TimeoutNow(ulong Term) : IFrame
{
    public FrameType Type => FrameType.TimeoutNow;

    public int Fields => 1;

    public void Write(ref MessagePackWriter writer) => writer.WriteUInt(Term);

    public static TimeoutNow Parse(ref MessagePackReader reader) => new(WireFormat.ReadPlace(ref reader));
}
