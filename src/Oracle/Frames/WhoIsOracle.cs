using GroupCore.Wire;

namespace Oracle.Frames;

/// <summary>Asks who the Oracle is.</summary>
internal sealed record WhoIsOracle : IFrame
{
    public FrameType Type => FrameType.WhoIsOracle;

    public int Fields => 0;

    public void Write(ref MessagePackWriter writer)
    {
    }
}
