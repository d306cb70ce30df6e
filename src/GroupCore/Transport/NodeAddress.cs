namespace GroupCore.Transport;

/// <summary>Where a node listens, as <c>host:port</c> text ("127.0.0.1:7700"). Compared ordinally.</summary>
public readonly record struct NodeAddress(string Text)
{
    /// <summary>The text, or "-" for the default value.</summary>
    public override string ToString() => Text ?? "-";
}
