using System.Net;
using GroupCore.Transport;
using Oracle;

namespace Ida.Nodes;

/// <summary>Looks up the names on which the place of a node depends, before its first life.</summary>
internal sealed class StartNames(IdaNodeOptions options, SystemNames names)
{
    // Names may not be known yet when a container starts.
    private static readonly TimeSpan s_again = TimeSpan.FromMilliseconds(200);

    // A name may only be known when this node is up: it then lives at an address of its own choice, and goes on looking.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(2);

    // A timer takes no longer time.
    private static readonly TimeSpan s_longest = TimeSpan.FromDays(40);

    /// <summary>The address to advertise.</summary>
    public async Task<string> AdvertisedAsync(string advertise, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        if (options.StartTimeout < s_longest) limit.CancelAfter(options.StartTimeout);
        for (string why = ""; ;)
        {
            try
            {
                var (addresses, reason) = await LookUpAsync(advertise, limit.Token).ConfigureAwait(false);
                if (addresses.Count > 0) return addresses[0].Address.ToString();
                why = reason;
                await Task.Delay(s_again, limit.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                throw new ClusterUnreachableException($"Advertise names {advertise}, for which no address is known after {options.StartTimeout.TotalSeconds:0.#} s: {(why.Length > 0 ? why : "no answer")}.");
            }
        }
    }

    /// <summary>The addresses of the seeds, as far as they are known soon.</summary>
    public async Task<IReadOnlyList<StartSeed>> SeedsAsync(CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(options.StartTimeout > TimeSpan.Zero && options.StartTimeout / 4 < s_patience ? options.StartTimeout / 4 : s_patience);
        var places = options.Seeds.Where(static seed => seed != SeedText.Lan).ToList();
        var known = new IReadOnlyList<StartSeed>[places.Count];
        Array.Fill(known, []);
        try
        {
            for (; ; )
            {
                await Task.WhenAll(Enumerable.Range(0, places.Count).Where(i => known[i].Count == 0).Select(FillAsync)).ConfigureAwait(false);
                if (Array.TrueForAll(known, static one => one.Count > 0)) break;
                await Task.Delay(s_again, limit.Token).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // With those that are known.
        }
        return [.. known.SelectMany(static one => one)];

        async Task FillAsync(int i) => known[i] = (await LookUpAsync(places[i], limit.Token).ConfigureAwait(false)).Addresses;
    }

    private async Task<(IReadOnlyList<StartSeed> Addresses, string Why)> LookUpAsync(string text, CancellationToken cancellationToken)
    {
        if (!HostAndPort.TryParse(text, out var place)) return ([], text);
        if (place.Address is { } address) return ([new(address, false)], "");
        var (addresses, why) = await names.LookUpAsync(place.Host, cancellationToken).ConfigureAwait(false);
        List<StartSeed> usable = [.. addresses.Where(EndPointText.IsReachable).Order(AddressOrder.Instance).Select(one => new StartSeed(new(one, place.Port), IPAddress.IsLoopback(one)))];
        return (usable, addresses.Count > usable.Count ? $"nobody can dial {addresses[0]}" : why);
    }
}
