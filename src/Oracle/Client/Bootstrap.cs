using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle.Frames;

namespace Oracle.Client;

/// <summary>
/// Finds the system this process belongs to, or founds it.
/// </summary>
/// <remarks>
/// Every process asks all seeds who the Oracle is; any answer wins. A process that listens at a seed address founds a system when no seed
/// knows one and every earlier seed is refused by its host, belongs to another cluster, or is silent for 2.5 s. A seed that hears an earlier one (its questions tell)
/// waits for it, so of two seeds that reach each other only the earlier founds. Other processes never found: they ask on.
/// Whoever may found listens for a second first: a system that lives without a process at this address tells so (<see cref="Herald"/>), and
/// then it is joined. So a lone seed that died and starts again finds the others, if they can decide; if they cannot, it founds anew.
/// A process that was given no seeds at all founds at once.
/// Seeds that cannot reach each other at their start, or the rest of their system, can found two systems; frames of the other are refused
/// and reported, there is no merge. A system of one process that meets a larger one gives way. Source: groupcore-oracle 4.2.
/// </remarks>
internal sealed class Bootstrap(INode node, OracleOptions options, Outlet outlet)
{
    private const long AskEvery = 200 * Durations.Millisecond;
    private const long SilenceBeforeFounding = 2_500 * Durations.Millisecond;
    private const long HeraldTime = 5 * Herald.Every;
    private const long DeferenceTo = 5 * Durations.Second;
    private readonly List<Seed> _seeds = [];
    private int _own = -1;
    private long _began;
    private long _asked;

    /// <summary>Whether nobody answered yet.</summary>
    public bool Silent => _seeds.TrueForAll(seed => seed.HeardAt == 0 && !seed.Foreign);

    /// <summary>Whether this process can do nothing but ask, and whoever answers at the seeds belongs to another cluster.</summary>
    public bool Stranded => _own < 0 && _seeds.TrueForAll(seed => seed.Foreign);

    /// <summary>Hears once of each seed that belongs to another cluster.</summary>
    public Action<NodeAddress>? OnForeign { get; set; }

    /// <summary>Begins, and begins again when what was found came to nothing.</summary>
    public void Start()
    {
        _seeds.Clear();
        _own = -1;
        _began = node.Now;
        _asked = long.MinValue / 2;
        foreach (var address in options.Seeds)
        {
            if (address == node.Links.Local) _own = _seeds.Count;
            else if (!_seeds.Exists(seed => seed.Address == address)) _seeds.Add(new(address));
        }
        if (_seeds.Count == 0) _own = 0;
    }

    /// <summary>Asks again when it is time; true when this process is to found the system.</summary>
    public bool Step()
    {
        if (MayFound()) return true;
        Ask();
        return false;
    }

    /// <summary>Asks the seeds who the Oracle is, when it is time again.</summary>
    public void Ask()
    {
        if (node.Now - _asked < AskEvery) return;
        _asked = node.Now;
        foreach (var seed in _seeds)
        {
            seed.Peer = node.Links.Open(seed.Address);
            outlet.Reply(seed.Peer, new WhoIsOracle());
        }
    }

    /// <summary>A seed asked, or answered that it does not know the Oracle.</summary>
    public void Heard(int peer)
    {
        if (Find(peer) is not { } seed) return;
        seed.HeardAt = node.Now;
        (seed.Refused, seed.Foreign) = (false, false);
    }

    public bool IsSeed(int peer) => Find(peer) is not null;

    public void OnFault(int peer, LinkFault fault)
    {
        if (Find(peer) is not { } seed) return;
        // Another cluster at the address is as good as nobody: there is none of this one.
        if (fault is LinkFault.Refused or LinkFault.WrongCluster) seed.Refused = true;
        if (fault is not LinkFault.WrongCluster || seed.Foreign) return;
        seed.Foreign = true;
        OnForeign?.Invoke(seed.Address);
    }

    private Seed? Find(int peer)
    {
        NodeAddress address = node.Links.AddressOf(peer);
        return _seeds.Find(seed => seed.Peer == peer || seed.Address == address);
    }

    private bool MayFound()
    {
        if (_own < 0) return false;
        if (_seeds.Count == 0 && options.Seeds.Count == 0) return true;
        // So that a system without a process here, or an earlier seed that is only just starting, has a moment to show itself.
        if (node.Now - _began < HeraldTime) return false;
        bool waited = node.Now - _began >= SilenceBeforeFounding;
        for (int i = 0; i < _seeds.Count; i++)
        {
            Seed seed = _seeds[i];
            bool heard = seed.HeardAt != 0 && node.Now - seed.HeardAt < DeferenceTo;
            if (i < _own && (heard || !(seed.Refused || waited))) return false;
            // A later seed may have founded already: its answer, or its silence, is waited for.
            if (i >= _own && !(heard || seed.Refused || waited)) return false;
        }
        return true;
    }

    private sealed class Seed(NodeAddress address)
    {
        public NodeAddress Address { get; } = address;

        public int Peer { get; set; } = -2;

        public long HeardAt { get; set; }

        public bool Refused { get; set; }

        public bool Foreign { get; set; }
    }
}
