using System.Globalization;
using System.Net;

namespace GroupCore.Transport;

/// <summary>A place as a user names it: <c>host:port</c>, where the host is an address, "localhost", or a name that stands for addresses.</summary>
/// <param name="Host">The name; empty if <paramref name="Address"/> is given.</param>
/// <param name="Port">The port.</param>
/// <param name="Address">The address, if it needs no look-up.</param>
internal sealed record HostAndPort(string Host, int Port, IPEndPoint? Address)
{
    /// <summary>What is allowed, as the end of a sentence.</summary>
    public const string Allowed = "give host:port with a name or an IP address, such as ida.example:7700, 10.0.0.1:7700 or [fd00::1]:7700";

    // RFC 1035, 2.3.4, less the length and the end that the text form does not show.
    private const int MaxName = 253;

    /// <summary>Reads "127.0.0.1:7700", "[::1]:7700", "localhost:7700" or "ida.example:7700".</summary>
    public static bool TryParse(string? text, out HostAndPort place)
    {
        place = null!;
        if (EndPointText.TryParse(text, out var address))
        {
            place = new("", address.Port, address);
            return true;
        }
        int colon = text?.LastIndexOf(':') ?? -1;
        if (colon <= 0 || !ushort.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out ushort port) || port == 0) return false;
        string host = text![..colon];
        if (!IsName(host)) return false;
        place = new(host.ToLowerInvariant(), port, null);
        return true;
    }

    /// <summary>The same for a place that others are to dial: not port 0, and not an address that is only a place to listen at.</summary>
    public static bool TryParseReachable(string? text, out HostAndPort place) =>
        TryParse(text, out place) && (place.Address is null || EndPointText.TryParseReachable(text, out _));

    // A name whose last part is a number would be an address written wrongly (RFC 1123, 2.1).
    private static bool IsName(string host)
    {
        if (host.Length > MaxName || Uri.CheckHostName(host) != UriHostNameType.Dns) return false;
        var last = host.AsSpan().TrimEnd('.');
        return last[(last.LastIndexOf('.') + 1)..].ContainsAnyExceptInRange('0', '9');
    }

    /// <inheritdoc/>
    public override string ToString() => Address?.ToString() ?? string.Create(CultureInfo.InvariantCulture, $"{Host}:{Port}");
}
