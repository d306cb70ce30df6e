using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using GroupCore.Transport;
using Oracle.Client;

namespace Ida.Nodes;

/// <summary>Where the first life of a node may listen, and what it says to others of where it is.</summary>
/// <param name="Listen">Addresses to try in turn: the first that is on this machine and free is taken.</param>
/// <param name="Advertise">Where others reach it; null: where it listens.</param>
internal sealed record StartPlace(IReadOnlyList<string> Listen, string? Advertise)
{
    private const string AnyLocalPort = "127.0.0.1:0";
    // Names may not be known yet when a container starts.
    private static readonly TimeSpan s_again = TimeSpan.FromMilliseconds(200);

    /// <summary>Looks names up as far as the place depends on them.</summary>
    /// <exception cref="ClusterUnreachableException">A name on which the place depends stands for no address within the time for the start, or no way leads to the first seed.</exception>
    public static async Task<StartPlace> FindAsync(IdaNodeOptions options, bool isSecure, SystemNames names, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(options.StartTimeout);
        var finder = new Finder(options, names, cancellationToken, limit.Token);
        string? advertise = options.Advertise is { } given ? await finder.AdvertisedAsync(given).ConfigureAwait(false) : null;
        if (options.Listen is not { } listen)
        {
            var seeds = await finder.SeedsAsync(atLeastOne: isSecure).ConfigureAwait(false);
            return new([.. seeds.Select(static seed => seed.ToString()), isSecure && options.Seeds.Count > 0 ? AnyPort(seeds) : AnyLocalPort], advertise);
        }
        var at = EndPointText.Parse(listen, nameof(options.Listen));
        // Without credentials a node cannot listen there; the loop says so.
        if (advertise is null && isSecure && EndPointText.IsAny(at.Address))
        {
            var seeds = await finder.SeedsAsync(atLeastOne: true).ConfigureAwait(false);
            // The loop knows the port where it listens.
            advertise = new IPEndPoint(OwnAddress(at, seeds), 0).ToString();
        }
        return new([listen], advertise);
    }

    // Seeds of which none has an address: the local network.
    private static string AnyPort(IReadOnlyList<IPEndPoint> seeds) =>
        new IPEndPoint(seeds.Count > 0 ? Towards(seeds[0]) : OwnAddress(new(IPAddress.IPv6Any, 0), seeds), 0).ToString();

    /// <summary>Of the addresses of this machine, the one that others probably use.</summary>
    private static IPAddress OwnAddress(IPEndPoint at, IReadOnlyList<IPEndPoint> seeds)
    {
        var own = NetworkInterface.GetAllNetworkInterfaces().Where(static one => one.OperationalStatus is OperationalStatus.Up or OperationalStatus.Unknown)
            .SelectMany(static one => one.GetIPProperties().UnicastAddresses).Select(static one => one.Address)
            .Where(address => EndPointText.IsReachable(address) && (at.AddressFamily == AddressFamily.InterNetworkV6 || address.AddressFamily == AddressFamily.InterNetwork)).ToList();
        if (seeds.FirstOrDefault(seed => seed.Port == at.Port && own.Contains(seed.Address)) is { } seed) return seed.Address;
        if (seeds.FirstOrDefault(seed => !own.Contains(seed.Address) && (at.AddressFamily == AddressFamily.InterNetworkV6 || seed.AddressFamily == at.AddressFamily)) is { } other) return Towards(other);
        return own.OrderBy(static address => IPAddress.IsLoopback(address)).ThenBy(static address => address.AddressFamily == AddressFamily.InterNetworkV6).FirstOrDefault() ?? IPAddress.Loopback;
    }

    /// <summary>The address of this machine from which another is reached: one at which the others reach this machine, unless something translates addresses between them.</summary>
    private static IPAddress Towards(IPEndPoint seed)
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
            throw new ClusterUnreachableException($"There is no way from this machine to the first seed, {seed}: {error.Message}. Give Listen, or start again when the network is there.");
        }
    }

    private sealed class Finder(IdaNodeOptions options, SystemNames names, CancellationToken cancelled, CancellationToken limit)
    {
        public async Task<string> AdvertisedAsync(string advertise)
        {
            for (; ; )
            {
                var (addresses, why) = await LookUpAsync(advertise).ConfigureAwait(false);
                if (addresses.Count > 0) return addresses[0].ToString();
                await AgainAsync(nameof(options.Advertise), why).ConfigureAwait(false);
            }
        }

        /// <summary>The addresses of the seeds that are known, or become known if there has to be one.</summary>
        public async Task<IReadOnlyList<IPEndPoint>> SeedsAsync(bool atLeastOne)
        {
            for (; ; )
            {
                var found = await Task.WhenAll(options.Seeds.Select(LookUpAsync)).ConfigureAwait(false);
                List<IPEndPoint> seeds = [.. found.SelectMany(static one => one.Addresses)];
                if (seeds.Count > 0 || !atLeastOne || options.Seeds.All(static seed => seed == SeedList.Lan)) return seeds;
                await AgainAsync(nameof(options.Seeds), string.Join(", ", found.Select(static one => one.Why))).ConfigureAwait(false);
            }
        }

        private async Task<(IReadOnlyList<IPEndPoint> Addresses, string Why)> LookUpAsync(string text)
        {
            // The local network has no address.
            if (!HostAndPort.TryParse(text, out var place)) return ([], text);
            if (place.Address is { } address) return ([address], "");
            try
            {
                var (addresses, why) = await names.LookUpAsync(place.Host, limit).ConfigureAwait(false);
                return ([.. addresses.Where(EndPointText.IsReachable).Order(AddressOrder.Instance).Select(one => new IPEndPoint(one, place.Port))], $"{place.Host} ({why})");
            }
            catch (OperationCanceledException) when (!cancelled.IsCancellationRequested)
            {
                return ([], $"{place.Host} (no answer)");
            }
        }

        private async Task AgainAsync(string option, string unknown)
        {
            try
            {
                await Task.Delay(s_again, limit).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (!cancelled.IsCancellationRequested)
            {
                throw new ClusterUnreachableException($"Cluster '{options.Cluster}' was not found within {options.StartTimeout.TotalSeconds:0.#} s: {option} names nothing that has an address: {unknown}.");
            }
        }
    }
}
