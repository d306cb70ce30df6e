using GroupCore.Membership;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>A decided view, for its members and for those that it says have left.</summary>
internal sealed record InstallFrame(View View) : IFrame
{
    public FrameType Type => FrameType.Install;

    public int Fields => WireFormat.ViewFields;

    public void Write(ref MessagePackWriter writer) => WireFormat.Write(ref writer, View);

    public static InstallFrame Parse(ref MessagePackReader reader) => new(WireFormat.ReadView(ref reader));
}
