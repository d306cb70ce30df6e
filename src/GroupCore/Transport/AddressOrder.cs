using System.Net;

namespace GroupCore.Transport;

/// <summary>By value, the short addresses first: a machine that has one of each kind is more often reached at that. Every process has the same order.</summary>
internal sealed class AddressOrder : IComparer<IPAddress>
{
    public static readonly AddressOrder Instance = new();

    /// <inheritdoc/>
    public int Compare(IPAddress? x, IPAddress? y)
    {
        Span<byte> one = stackalloc byte[16], other = stackalloc byte[16];
        int oneLength = 0, otherLength = 0;
        x?.TryWriteBytes(one, out oneLength);
        y?.TryWriteBytes(other, out otherLength);
        return oneLength != otherLength ? oneLength.CompareTo(otherLength) : one[..oneLength].SequenceCompareTo(other[..otherLength]);
    }
}
