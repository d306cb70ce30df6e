using GroupCore.Membership;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>Tells a process that it was excluded.</summary>
internal sealed record ExcludedFrame(ProcessId Process, string Reason) : IFrame
{
    public FrameType Type => FrameType.Excluded;

    public int Fields => 3;

    public void Write(ref MessagePackWriter writer)
    {
        WireFormat.Write(ref writer, Process);
        writer.WriteString(Reason);
    }

    public static ExcludedFrame Parse(ref MessagePackReader reader) => new(WireFormat.ReadProcess(ref reader), WireFormat.ReadText(ref reader, Limits.ReasonBytes));
}
