using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using GroupCore.Transport;

namespace Ida.Nodes;

/// <summary>Where the first life of a node may listen, and what it says to others of where it is.</summary>
/// <param name="Listen">Addresses to try in turn: the first that is on this machine and free is taken.</param>
/// <param name="Advertise">Where others reach it; null: where it listens.</param>
internal sealed record StartPlace(IReadOnlyList<string> Listen, string? Advertise)
{
    private const string AnyLocalPort = "127.0.0.1:0";

    /// <summary>Looks names up as far as the place depends on them.</summary>
    /// <exception cref="ClusterUnreachableException">The name to advertise stands for no address within the time for the start, or no way leads to the seeds.</exception>
    public static async Task<StartPlace> FindAsync(IdaNodeOptions options, bool isSecure, SystemNames names, CancellationToken cancellationToken)
    {
        var lookUp = new StartNames(options, names);
        string? advertise = options.Advertise is { } given ? await lookUp.AdvertisedAsync(given, cancellationToken).ConfigureAwait(false) : null;
        if (options.Listen is not { } listen)
        {
            if (options.Seeds.Count == 0) return new([AnyLocalPort], advertise);
            var seeds = await lookUp.SeedsAsync(cancellationToken).ConfigureAwait(false);
            if (!isSecure) return new([.. seeds.Select(static seed => seed.Address.ToString()), AnyLocalPort], advertise);
            var own = OwnAddress(seeds, AddressFamily.Unspecified, port: 0);
            return new([.. seeds.Select(seed => InPlace(seed, own).ToString()), new IPEndPoint(own, 0).ToString()], advertise);
        }
        var at = EndPointText.Parse(listen, nameof(options.Listen));
        // Without credentials a node cannot listen there; the loop says so.
        if (advertise is null && isSecure && EndPointText.IsAny(at.Address))
        {
            var seeds = await lookUp.SeedsAsync(cancellationToken).ConfigureAwait(false);
            // The loop knows the port where it listens.
            advertise = new IPEndPoint(OwnAddress(seeds, at.AddressFamily == AddressFamily.InterNetwork ? at.AddressFamily : AddressFamily.Unspecified, at.Port), 0).ToString();
        }
        return new([listen], advertise);
    }

    // This machine's own name may stand for its loopback, where no other machine finds it.
    private static IPEndPoint InPlace(StartSeed seed, IPAddress own) => seed.IsOwnName ? new(own, seed.Address.Port) : seed.Address;

    /// <summary>
    /// Of the addresses of this machine, the one that others probably use: it is among the seeds, or leads to one, or is that of an interface which leads to other networks.
    /// </summary>
    private static IPAddress OwnAddress(IReadOnlyList<StartSeed> seeds, AddressFamily kind, int port)
    {
        bool IsOfKind(IPAddress address) => kind == AddressFamily.Unspecified || address.AddressFamily == kind;
        var own = OwnAddresses().Where(IsOfKind).ToList();
        var named = seeds.Where(seed => !seed.IsOwnName && IsOfKind(seed.Address.Address)).Select(static seed => seed.Address).ToList();
        if (port > 0 && named.Find(seed => seed.Port == port && own.Contains(seed.Address)) is { } seat) return seat.Address;
        var others = named.FindAll(seed => !own.Contains(seed.Address));
        if (others.Count > 0) return Towards(others);
        if (named.Count > 0) return named[0].Address;
        return own.Count > 0 ? own[0] : kind == AddressFamily.InterNetworkV6 ? IPAddress.IPv6Loopback : IPAddress.Loopback;
    }

    /// <summary>The addresses of this machine that others may use, the best first.</summary>
    private static IEnumerable<IPAddress> OwnAddresses()
    {
        var found = new List<(IPAddress Address, bool LeadsOn)>();
        foreach (var one in LanInterface.Interfaces())
        {
            if (one.OperationalStatus is not (OperationalStatus.Up or OperationalStatus.Unknown)) continue;
            try
            {
                var properties = one.GetIPProperties();
                bool leadsOn = properties.GatewayAddresses.Count > 0;
                foreach (var address in properties.UnicastAddresses)
                    if (EndPointText.IsReachable(address.Address)) found.Add((address.Address, leadsOn));
            }
            catch (NetworkInformationException)
            {
                // The interface has just gone.
            }
        }
        return found.OrderBy(static one => IPAddress.IsLoopback(one.Address)).ThenByDescending(static one => one.LeadsOn).ThenBy(static one => one.Address.AddressFamily == AddressFamily.InterNetworkV6).Select(static one => one.Address);
    }

    /// <summary>The address of this machine from which another is reached: one at which the others reach this machine, unless something translates addresses between them.</summary>
    private static IPAddress Towards(List<IPEndPoint> seeds)
    {
        string why = "";
        foreach (var seed in seeds)
        {
            if (IPAddress.IsLoopback(seed.Address)) return seed.AddressFamily == AddressFamily.InterNetworkV6 ? IPAddress.IPv6Loopback : IPAddress.Loopback;
            try
            {
                using var socket = new Socket(seed.AddressFamily, SocketType.Dgram, ProtocolType.Udp);
                // No byte is sent: the system only chooses the way.
                socket.Connect(seed);
                return ((IPEndPoint)socket.LocalEndPoint!).Address;
            }
            catch (SocketException error)
            {
                why = error.Message;
            }
        }
        throw new ClusterUnreachableException($"There is no way from this machine to the seeds {string.Join(", ", seeds)}: {why}. Give Listen, or start again when the network is there.");
    }
}
