using GroupCore.Membership;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>Evidence of the sender against a process, or its withdrawal (<paramref name="Withdrawn"/>); <paramref name="Health"/> is the sender's (0 good … 8).</summary>
internal sealed record SuspectFrame(ProcessId Subject, bool Withdrawn, Suspicion Evidence, int Health) : IFrame
{
    public FrameType Type => FrameType.Suspect;

    public int Fields => 5;

    public void Write(ref MessagePackWriter writer)
    {
        WireFormat.Write(ref writer, Subject);
        writer.WriteBoolean(Withdrawn);
        writer.WriteInt((int)Evidence);
        writer.WriteInt(Health);
    }

    public static SuspectFrame Parse(ref MessagePackReader reader) =>
        new(WireFormat.ReadProcess(ref reader), reader.ReadBoolean(), WireFormat.ReadEnum<Suspicion>(ref reader, 6), (int)reader.ReadWithin(0, 8));
}
