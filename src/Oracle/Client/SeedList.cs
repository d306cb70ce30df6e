using System.Net;
using GroupCore.Runtime;
using GroupCore.Transport;

namespace Oracle.Client;

/// <summary>The addresses of the seeds: those that the user gave, and those for which names stand at present.</summary>
/// <remarks>
/// Their order is that of the user's list, and in the place of a name its addresses by value: processes that are given the same list and the same answers have the same order. An
/// address stays for 30 s after the last answer that named it, since a server of names may tell only some of many addresses each time. What was found stays while nothing better
/// is: a server that is silent or knows nothing takes no seed away. An address of the loopback for which a name stands, with the port of this process, counts as its address. Processes that show themselves on the local network stand in the place of <see cref="SeedText.Lan"/>, in the order of their
/// addresses; there is room for 64 of these, and for 64 addresses of each name. Source: oracle.md#names-are-asked-for-again.
/// </remarks>
internal sealed class SeedList
{
    /// <summary>How often names are looked up by a process that looks for its system, or for one that has moved.</summary>
    public const long Soon = Durations.Second;

    /// <summary>How often otherwise, by those that have to know.</summary>
    public const long Seldom = 5 * Durations.Second;

    private const long KeptFor = 30 * Durations.Second;
    private const int MostOfName = 64;
    // Of what anybody may name, so many new addresses count at once, and then one more each half second: each is dialled.
    private const int MostNew = 64;
    private const long NewEvery = 500 * Durations.Millisecond;
    private readonly INode _node;
    private readonly INameService? _service;
    private readonly List<Entry> _entries = [];
    private readonly Entry? _lan;

    public SeedList(INode node, OracleOptions options)
    {
        (_node, _service) = (node, options.Names);
        foreach (var seed in options.Seeds)
        {
            if (seed.Text == SeedText.Lan)
            {
                if (_lan is null) _entries.Add(_lan = new(null) { Addresses = { new(node.Links.Local, OwnAddress(node)) } });
            }
            else if (HostAndPort.TryParse(seed.Text, out var place)) _entries.Add(new(place));
        }
        Arrange();
    }

    /// <summary>Whether the user gave no seed.</summary>
    public bool IsEmpty => _entries.Count == 0;

    /// <summary>Every address once.</summary>
    public IReadOnlyList<NodeAddress> Addresses { get; private set; } = [];

    /// <summary>Grows when <see cref="Addresses"/> change.</summary>
    public int Version { get; private set; }

    /// <summary>Whether each name stands for an address, as far as was found out.</summary>
    public bool IsComplete => _entries.TrueForAll(static entry => entry.Addresses.Count > 0);

    /// <summary>Whether there are names, so that the addresses may change.</summary>
    public bool HasNames => _entries.Exists(static entry => entry.IsName);

    /// <summary>Whether processes of the local network are among the seeds.</summary>
    public bool HasLan => _lan is not null;

    /// <summary>Whether there are no other seeds than these.</summary>
    public bool IsLan => HasLan && _entries.Count == 1;

    /// <summary>Whether a seed was found on the local network: what said that it is there may be anybody.</summary>
    public bool IsOfLan(NodeAddress address) => _lan?.Addresses.Exists(known => known.Text == address) == true;

    /// <summary>Whether an address stands here for a name.</summary>
    public bool IsOfName(NodeAddress address) => _entries.Exists(entry => entry.IsName && entry.Addresses.Exists(known => known.Text == address));

    /// <summary>Why names stand for no address, as a part of a sentence; empty if all stand for one.</summary>
    public string Unknown => string.Join(", ", _entries.FindAll(static entry => entry is { Addresses.Count: 0, Asked: not null }).ConvertAll(static entry => entry.Why));

    /// <summary>Looks up the names that were last looked up <paramref name="every"/> ago, or never.</summary>
    public void Step(long every)
    {
        if (_lan?.Addresses.RemoveAll(known => known.Text != _node.Links.Local && _node.Now - known.Named >= KeptFor) > 0) Arrange();
        if (_service is null) return;
        foreach (var entry in _entries)
        {
            if (!entry.IsName || entry.IsAsking || (entry.Asked is { } asked && _node.Now - asked < every)) continue;
            (entry.IsAsking, entry.Asked) = (true, _node.Now);
            _service.Resolve(_node, entry.Host, (addresses, why) => Found(entry, addresses, why));
        }
    }

    /// <summary>A process of the local network says that it is there; whether it was not known. Of too many those give way that were not heard for longest.</summary>
    public bool Discover(NodeAddress address)
    {
        if (_lan is null || !EndPointText.TryParseReachable(address.Text, out var endPoint)) return false;
        address = EndPointText.Format(endPoint);
        if (_lan.Addresses.Find(known => known.Text == address) is { } old)
        {
            old.Named = _node.Now;
            return false;
        }
        if (!_lan.MayTake(_node.Now)) return false;
        if (_lan.Addresses.Count > MostOfName && _lan.Addresses.Where(known => known.Text != _node.Links.Local).MinBy(static known => known.Named) is { } oldest) _lan.Addresses.Remove(oldest);
        _lan.Addresses.Add(new(address, endPoint.Address) { Named = _node.Now });
        Sort(_lan);
        Arrange();
        return true;
    }

    /// <summary>This process did not run for <paramref name="stopped"/>, and heard nothing.</summary>
    public void Doubt(long stopped)
    {
        foreach (var entry in _entries)
            foreach (var known in entry.Addresses) known.Named += stopped;
    }

    private void Found(Entry entry, IReadOnlyList<IPAddress> addresses, string why)
    {
        entry.IsAsking = false;
        bool changed = false;
        List<IPAddress> usable = [.. addresses.Where(EndPointText.IsReachable).Select(address => Own(address, entry.Place!.Port)).Order(AddressOrder.Instance)];
        if (usable.Count == 0)
        {
            entry.Why = $"{entry.Host} ({(addresses.Count > 0 ? $"nobody can dial {addresses[0]}" : why)})";
            return;
        }
        foreach (var address in usable)
        {
            var text = EndPointText.Format(new(address, entry.Place!.Port));
            if (entry.Addresses.Find(known => known.Text == text) is { } old) old.Named = _node.Now;
            else if (entry.MayTake(_node.Now))
            {
                entry.Addresses.Add(new(text, address) { Named = _node.Now });
                changed = true;
            }
        }
        changed |= entry.Addresses.RemoveAll(known => _node.Now - known.Named >= KeptFor) > 0;
        if (!changed) return;
        Sort(entry);
        // All processes keep the same ones of a name that stands for very many.
        if (entry.Addresses.Count > MostOfName) entry.Addresses.RemoveRange(MostOfName, entry.Addresses.Count - MostOfName);
        Arrange();
    }

    // The system may know this machine's own name by an address of the loopback, where no other machine finds it. At another port it may be anything that listens there.
    private IPAddress Own(IPAddress address, int port) =>
        IPAddress.IsLoopback(address) && EndPointText.TryParse(_node.Links.Local.Text, out var own) && own.Port == port && !IPAddress.IsLoopback(own.Address) ? own.Address : address;

    // Processes of one machine differ by their ports.
    private static void Sort(Entry entry) => entry.Addresses.Sort(static (one, other) =>
        AddressOrder.Instance.Compare(one.Address, other.Address) is not 0 and var order ? order : string.CompareOrdinal(one.Text.Text, other.Text.Text));

    private static IPAddress OwnAddress(INode node) => EndPointText.TryParse(node.Links.Local.Text, out var own) ? own.Address : IPAddress.None;

    private void Arrange()
    {
        var addresses = new List<NodeAddress>();
        foreach (var entry in _entries)
            foreach (var known in entry.Addresses)
                if (!addresses.Contains(known.Text)) addresses.Add(known.Text);
        Addresses = addresses;
        Version++;
    }

    private sealed class Entry
    {
        private int _taken;
        private long _since;

        public Entry(HostAndPort? place)
        {
            Place = place;
            if (place?.Address is { } address) Addresses.Add(new(EndPointText.Format(address), address.Address));
        }

        public HostAndPort? Place { get; }

        public bool IsName => Place is { Address: null };

        public string Host => Place?.Host ?? SeedText.Lan;

        public List<Known> Addresses { get; } = [];

        public long? Asked { get; set; }

        public bool IsAsking { get; set; }

        public string Why { get; set; } = "";

        /// <summary>Whether one more address may count now.</summary>
        public bool MayTake(long now)
        {
            long freed = Math.Min(_taken, (now - _since) / NewEvery);
            (_taken, _since) = (_taken - (int)freed, _since + (freed * NewEvery));
            if (_taken == 0) _since = now;
            if (_taken >= MostNew) return false;
            _taken++;
            return true;
        }
    }

    private sealed class Known(NodeAddress text, IPAddress address)
    {
        public NodeAddress Text { get; } = text;

        public IPAddress Address { get; } = address;

        /// <summary>When an answer last named it.</summary>
        public long Named { get; set; }
    }
}
