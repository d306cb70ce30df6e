using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>What happens to the sockets of a scenario over the mesh, and how rough their network is.</summary>
internal static class SocketNames
{
    private const string Secure = "socket: TLS";

    /// <summary>What such a scenario has beside its own ingredients.</summary>
    public static IReadOnlyList<string> Declared { get; } = [Secure, .. Enum.GetValues<SocketDeed>().Select(Of)];

    /// <summary>A quarter of the seeds have the sockets of a quiet network; the others add resets, lost dials and a lack of descriptors.</summary>
    public static SocketModel Draw(ulong seed) => (seed * 0xD6E8_FEB8_6659_FD93) >> 62 == 0 ? new() : SocketModel.Rough;

    /// <summary>One seed of sixteen has nodes with credentials: a handshake costs some milliseconds.</summary>
    public static bool IsSecure(ulong seed) => (seed * 0xC2B2_AE3D_27D4_EB4F) >> 60 == 0;

    public static void Note(Simulation simulation, Ingredients drawn)
    {
        if (simulation.Options.IsSecure) drawn.Draw(Secure);
        foreach (var deed in Enum.GetValues<SocketDeed>())
            if (simulation.Tally[deed] > 0) drawn.Draw(Of(deed));
    }

    private static string Of(SocketDeed deed) => $"socket: {deed}";
}
