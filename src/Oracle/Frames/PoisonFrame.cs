using GroupCore.Membership;
using GroupCore.Wire;
using Oracle.State;

namespace Oracle.Frames;

/// <summary>Tells a process that it was excluded.</summary>
internal sealed record PoisonFrame(ProcessId Process, string Reason) : IFrame
{
    public FrameType Type => FrameType.Poison;

    public int Fields => 3;

    public void Write(ref MessagePackWriter writer)
    {
        WireFormat.Write(ref writer, Process);
        writer.WriteString(Reason);
    }

    public static PoisonFrame Parse(ref MessagePackReader reader) => new(WireFormat.ReadProcess(ref reader), WireFormat.ReadText(ref reader, Limits.ReasonBytes));
}
