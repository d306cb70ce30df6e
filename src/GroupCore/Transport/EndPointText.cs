using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace GroupCore.Transport;

/// <summary>Node addresses as text and as socket addresses. Hosts are IP literals or "localhost", so that nothing on the loop waits for a name server.</summary>
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
        endPoint = new(address, port);
        return true;
    }

    /// <summary>Reads an address that another node gave for others to dial: not port 0 and not "any address", which are only places to listen at.</summary>
    public static bool TryParseReachable(string? text, out IPEndPoint endPoint) => TryParse(text, out endPoint) && IsReachable(endPoint);

    /// <summary>Reads an address that a user gave, or throws an <see cref="ArgumentException"/> that says what is allowed.</summary>
    public static IPEndPoint Parse(string? text, string parameter) => TryParse(text, out var endPoint)
        ? endPoint
        : throw new ArgumentException($"'{text}' is not an address: give host:port with an IP address or localhost, such as 127.0.0.1:7700 or [::1]:7700.", parameter);

    /// <summary>The same for an address that others are to dial.</summary>
    public static IPEndPoint ParseReachable(string? text, string parameter) => Parse(text, parameter) is var endPoint && IsReachable(endPoint)
        ? endPoint
        : throw new ArgumentException($"Nobody can reach '{text}': give the address and the port that others use.", parameter);

    /// <summary>One spelling per address, so that two texts of one address compare equal.</summary>
    public static NodeAddress Format(IPEndPoint endPoint) => new(endPoint.ToString());

    private static bool IsReachable(IPEndPoint endPoint) => endPoint.Port > 0 && !endPoint.Address.Equals(IPAddress.Any) && !endPoint.Address.Equals(IPAddress.IPv6Any);
}
