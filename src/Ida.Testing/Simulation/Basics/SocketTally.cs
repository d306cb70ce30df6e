namespace Ida.Testing;

/// <summary>How often each thing happened to the sockets of a simulation.</summary>
internal sealed class SocketTally
{
    private readonly long[] _counts = new long[Enum.GetValues<SocketDeed>().Length];

    public long this[SocketDeed deed] => _counts[(int)deed];

    public void Add(SocketDeed deed) => _counts[(int)deed]++;
}
