using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace GroupCore.Transport;

/// <summary>
/// Node addresses as text and as socket addresses. Hosts are IP literals or "localhost", so that nothing on the loop waits for a name server; for what a user gives as a name
/// see <see cref="HostAndPort"/>.
/// </summary>
internal static class EndPointText
{
    private const int MaxLength = 255;

    /// <summary>Reads "127.0.0.1:7700", "[::1]:7700" or "localhost:7700".</summary>
    public static bool TryParse(string? text, out IPEndPoint endPoint)
    {
        endPoint = null!;
        int colon = text?.LastIndexOf(':') ?? -1;
        if (colon <= 0 || text!.Length > MaxLength) return false;
        if (!ushort.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out ushort port)) return false;
        var host = text.AsSpan(0, colon);
        bool bracketed = host.Length > 2 && host[0] == '[' && host[^1] == ']';
        IPAddress? address;
        if (host.SequenceEqual("localhost")) address = IPAddress.Loopback;
        else if (!IPAddress.TryParse(bracketed ? host[1..^1] : host, out address)) return false;
        if (bracketed != (address.AddressFamily == AddressFamily.InterNetworkV6)) return false;
        endPoint = new(Plain(address), port);
        return true;
    }

    /// <summary>Reads an address that another node gave for others to dial: not port 0 and not "any address", which are only places to listen at.</summary>
    public static bool TryParseReachable(string? text, out IPEndPoint endPoint) => TryParse(text, out endPoint) && IsReachable(endPoint);

    /// <summary>Reads an address that a user gave, or throws an <see cref="ArgumentException"/> that says what is allowed.</summary>
    public static IPEndPoint Parse(string? text, string parameter) => TryParse(text, out var endPoint)
        ? endPoint
        : throw new ArgumentException($"'{text}' is not an address: give host:port with an IP address or localhost, such as 127.0.0.1:7700 or [::1]:7700.", parameter);

    /// <summary>The same for an address that others are to dial; with <paramref name="orBound"/> its port may be 0, for that at which the node listens.</summary>
    public static IPEndPoint ParseReachable(string? text, string parameter, bool orBound = false) => Parse(text, parameter) is var endPoint && (orBound ? IsReachable(endPoint.Address) : IsReachable(endPoint))
        ? endPoint
        : throw new ArgumentException($"Nobody can reach '{text}': give the address and the port that others use.", parameter);

    /// <summary>One spelling per address, so that two texts of one address compare equal.</summary>
    public static NodeAddress Format(IPEndPoint endPoint) => new((endPoint.Address.IsIPv4MappedToIPv6 ? new(Plain(endPoint.Address), endPoint.Port) : endPoint).ToString());

    /// <summary>Whether this is every address of a machine: a place to listen at only.</summary>
    public static bool IsAny(IPAddress address) => address.Equals(IPAddress.Any) || address.Equals(IPAddress.IPv6Any);

    /// <summary>Whether others can be told to dial this address. One of a single link means another place to each machine.</summary>
    public static bool IsReachable(IPAddress address) => !IsAny(address) && !address.IsIPv6LinkLocal && !address.IsIPv6Multicast && !IsGroup(address);

    private static bool IsReachable(IPEndPoint endPoint) => endPoint.Port > 0 && IsReachable(endPoint.Address);

    // IPv4: 224.0.0.0 and above stand for groups of machines, or are reserved; the last one is everybody.
    private static bool IsGroup(IPAddress address)
    {
        Span<byte> bytes = stackalloc byte[16];
        return address.TryWriteBytes(bytes, out int length) && length == 4 && bytes[0] >= 224;
    }

    private static IPAddress Plain(IPAddress address) => address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;
}
