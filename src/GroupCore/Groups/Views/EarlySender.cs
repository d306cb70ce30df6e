namespace GroupCore.Groups.Views;

/// <summary>What is held of one sender.</summary>
internal sealed class EarlySender
{
    public List<EarlyFrame> Frames { get; } = [];

    public long Bytes { get; set; }
}
