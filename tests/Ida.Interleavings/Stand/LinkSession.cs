namespace GroupCore.Transport;

/// <summary>Stands for the real one in <see cref="NodeBacklog"/>.</summary>
internal sealed class LinkSession
{
    public bool WaitsForNode { get; set; }
}
