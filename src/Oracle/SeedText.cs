using GroupCore.Transport;

namespace Oracle;

/// <summary>What a user may give as a seed.</summary>
internal static class SeedText
{
    /// <summary>The seed that stands for the processes of the cluster on the local network.</summary>
    public const string Lan = "multicast";

    /// <summary>What is allowed, as the end of a sentence.</summary>
    public static string Allowed => $"{HostAndPort.Allowed}, or {Lan} for the processes of the local network";

    /// <summary>Whether a text is a seed.</summary>
    public static bool IsSeed(string? text) => text == Lan || HostAndPort.TryParseReachable(text, out _);
}
