using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle.Frames;

namespace Oracle.Client;

/// <summary>
/// Finds the system to which this process belongs, or founds it.
/// </summary>
/// <remarks>
/// Every process asks all seeds who the Oracle is; any answer wins. A process that listens at a seed address founds a system when no seed knows one and every
/// earlier seed is refused by its host, belongs to another cluster, or is silent for 2.5 s. A seed that hears the questions of an earlier one waits for it, so of two seeds
/// that reach each other only the earlier founds. Other processes never found; they go on asking.
/// The wait for an earlier seed ends, since the process that listens at its address, or says that it does, may never found. For a seed that this process reached at the
/// address, the wait begins when it was first heard, and is longer the earlier its place (<see cref="Deference"/>). For a process that dialled in and only says that it listens
/// there, the wait is 5 s at most, and none if another node is reached there.
/// Before it founds, a seed that hears another one announces for a while that it is about to found, and goes on asking. The other may have founded meanwhile, or be about to as
/// well, since their lists differ or it is late. The seed founds when the others have answered the questions that it has asked since and none of them announces too. It waits
/// 1 s for a seed that does not answer, and 2 s for one with a lower node number that has only just announced. A seed that hears another's announcement lets the other go first
/// for 2 s, unless it has announced itself and has the lower number, or others have gone first for 6 s on end. Of two seeds of which at least one asks the other, only one
/// founds: the answer says either that the other knows the system by then, or that it announces too. So lists may differ, as long as of any two processes that may found, one
/// has the other in its list. Two seeds whose lists have only a third process in common do not hear of each other.
/// Time in which this process does not run counts for none of these waits: it has read nothing of what arrived meanwhile.
/// A process that may found first listens for a second: a system that lives without a process at this address tells it so (<see cref="SeedBeacon"/>), and it joins. So a lone
/// seed that died and starts again finds the others, if they can decide; if they cannot, it founds anew. A process that was given no seeds at all founds at once.
/// Seeds that cannot reach each other at their start, or cannot reach the rest of their system, can found two systems. Frames of the other system are refused and reported;
/// there is no merge. A system of one process that meets a larger one gives way. Source: oracle.md#only-seeds-found-the-earlier-first, #two-systems-do-not-merge.
/// Names among the seeds are looked up every second, before a question and before a decision; what stands for none yet counts as silent. A given address at which this
/// process itself answers is its own place among the seeds, whatever it calls itself; not one that was found by a name, which may lead to one of several processes at a time. Where that place is found by a name, it listens a second longer: others may have looked the name up just before.
/// If the only seed is the local network, each process on it is a seed, those with lower addresses are the earlier, and all waits are shorter (<see cref="LanDiscovery"/>): where
/// nobody is heard, or only others that look, the earliest founds 0.5 s after its start.
/// A process that lost contact asks the seeds again, and also the addresses at which it knew other processes of its system (<see cref="Search"/>): it may itself sit at the
/// only seed, and all lives that it knows may be over.
/// </remarks>
internal sealed class Bootstrap(INode node, OracleOptions options, SeedList list, FrameSender sender)
{
    private const long SilenceBeforeFounding = 2_500 * Durations.Millisecond;
    // As long as a first connection with credentials may take.
    private const long LanSilence = 1_500 * Durations.Millisecond;
    private const long Fresh = 5 * Durations.Second;
    private const long MostSilent = Durations.Second;
    private const int MostKnown = 64;
    // On a local network those that are there answer at once, and all can be heard by all: 0.5 s are enough to decide.
    private readonly long _askEvery = list.IsLan ? 100 * Durations.Millisecond : 200 * Durations.Millisecond;
    private readonly long _beaconTime = list.IsLan ? 500 * Durations.Millisecond : 5 * SeedBeacon.Every;
    // By then those that start together know of each other, and only the earliest announces.
    private readonly long _quiet = list.IsLan ? 200 * Durations.Millisecond : 0;
    private readonly List<Seed> _seeds = [];
    private readonly List<Seed> _known = [];
    private readonly List<NodeAddress> _itself = [];
    private int _own = -1;
    private int _version;
    private Deference _deference = null!;

    // Of the processes that ask and are not in this process's list, the one that announced last.
    private Rival _stranger = new();
    private long _began;
    private long _listens;
    private long _asked;
    private long _announcing;

    // Since when others have gone first without a pause, and when one last did.
    private long _yieldedFrom;
    private long _yielded;

    // A seed that begins to announce after the other's last question learns from the answer to its own first question that the other has founded.
    private long AnnouncedFor => 3 * _askEvery;

    private long YieldTo => 2 * _beaconTime;

    private long MostYielding => 3 * YieldTo;

    private long MostWaiting => list.IsLan ? SilenceBeforeFounding : 3 * SilenceBeforeFounding;

    /// <summary>Whether nothing was heard of any seed yet.</summary>
    public bool Silent => _seeds.TrueForAll(seed => seed.HeardAt == 0 && seed.ClaimedAt == 0 && !seed.Foreign);

    /// <summary>Whether this process listens at a seed's address, or was given none, so that it may found.</summary>
    public bool IsSeed => _own >= 0;

    /// <summary>Whether this process can only ask, and every seed belongs to another cluster.</summary>
    public bool Stranded => _own < 0 && list.IsComplete && _seeds.TrueForAll(seed => seed.Foreign);

    /// <summary>Whether this process tells those that ask that it is about to found, unless it hears otherwise.</summary>
    public bool Announces => _announcing != 0;

    /// <summary>Called once for each address of a name at which this process itself answers though it says that it is elsewhere.</summary>
    public Action<NodeAddress>? OnShared { get; set; }

    /// <summary>Called once for each seed that belongs to another cluster.</summary>
    public Action<NodeAddress>? OnForeign { get; set; }

    /// <summary>Begins, or begins anew when the system that was found has not registered this process.</summary>
    public void Start()
    {
        _seeds.Clear();
        _known.Clear();
        _itself.Clear();
        _own = -1;
        _began = node.Now;
        _asked = long.MinValue / 2;
        Renew();
        _stranger = new();
        _announcing = 0;
        _yieldedFrom = _yielded = long.MinValue / 2;
    }

    /// <summary>Asks again when it is time; true when this process is to found the system.</summary>
    public bool Step()
    {
        if (list.IsEmpty) return true;
        Look();
        if (!MayFound())
        {
            _announcing = 0;
        }
        else
        {
            // A system without a process at this address, or an earlier seed that is only just starting, gets a moment to show itself.
            bool listened = node.Now - _began >= _listens;
            if (listened && (IsClear() || !(_seeds.Exists(IsFresh) || IsStrangerThere))) return true;
            if (_announcing == 0 && node.Now - _began >= _quiet) Announce();
        }
        Ask();
        return false;
    }

    /// <summary>This process did not run for <paramref name="stopped"/> and read nothing that came: that time does not count as waiting.</summary>
    public void Doubt(long stopped)
    {
        _began += stopped;
        _yieldedFrom += stopped;
        _yielded += stopped;
        if (_announcing != 0) _announcing += stopped;
        _stranger.Doubt(stopped);
        foreach (var seed in _seeds) seed.Doubt(stopped);
    }

    /// <summary>A process asks, and says whether it is about to found.</summary>
    public void Asked(int peer, bool announces)
    {
        Heard(peer);
        if (_seeds.Find(seed => IsAt(seed, peer)) is { } seed)
        {
            Hear(seed.Rival, node.Links.NodeIdOf(peer), announces);
            return;
        }
        ulong id = node.Links.NodeIdOf(peer);
        if (_own >= 0 && id != 0 && (announces || _stranger.NodeId == id)) Hear(_stranger, id, announces);
    }

    /// <summary>A process that was asked does not know the Oracle, and says whether it is about to found.</summary>
    public void Answered(int peer, bool announces)
    {
        Heard(peer);
        if (_seeds.Find(seed => IsAt(seed, peer)) is not { } seed) return;
        seed.Answered++;
        Hear(seed.Rival, node.Links.NodeIdOf(peer), announces);
    }

    /// <summary>Asks the seeds who the Oracle is, when it is time again.</summary>
    public void Ask()
    {
        if (node.Now - _asked < _askEvery) return;
        _asked = node.Now;
        foreach (var seed in _seeds) Ask(seed);
        foreach (var known in _known) Ask(known);
    }

    /// <summary>The same for a process that lost contact: it also asks at these addresses, whatever node listens there now.</summary>
    public void Search(IReadOnlyCollection<NodeAddress> known)
    {
        Look();
        if (node.Now - _asked < _askEvery) return;
        // A process that belongs to a system founds none.
        _announcing = 0;
        _known.RemoveAll(old => !known.Contains(old.Address));
        foreach (var address in known)
        {
            if (_known.Count == MostKnown) break;
            if (address != node.Links.Local && !_seeds.Exists(seed => seed.Address == address) && !_known.Exists(old => old.Address == address)) _known.Add(new(address));
        }
        Ask();
    }

    /// <summary>Another node listens at an address that was asked: the link to the old node was closed, and the question was lost with it. Asks again.</summary>
    public void Replaced(int peer)
    {
        if ((_seeds.Find(seed => seed.Peer == peer) ?? _known.Find(known => known.Peer == peer)) is { } asked) Ask(asked);
    }

    /// <summary>A process has shown itself on the local network: asks it at once.</summary>
    public void Discovered()
    {
        Look();
        foreach (var seed in _seeds)
            if (seed.Peer == Seed.NotAsked) Ask(seed);
    }

    /// <summary>Looks names up again, and takes over what was found.</summary>
    private void Look()
    {
        list.Step(SeedList.Soon);
        if (_version != list.Version) Renew();
    }

    /// <summary>The seeds have other addresses now. What is known of those that stay is kept.</summary>
    private void Renew()
    {
        var known = _seeds.ToArray();
        bool wasSeed = IsSeed;
        _version = list.Version;
        _seeds.Clear();
        _own = -1;
        foreach (var address in list.Addresses)
        {
            if (address != node.Links.Local && !_itself.Contains(address))
            {
                _seeds.Add(Array.Find(known, seed => seed.Address == address) ?? new(address) { Since = node.Now });
            }
            else if (_own < 0)
            {
                _own = _seeds.Count;
                // Those that would tell a process at this address of a system may still have to look its name up.
                _listens = list.IsOfName(address) ? _beaconTime + SeedList.Soon : _beaconTime;
            }
        }
        if (list.IsEmpty) _own = 0;
        _deference = new(options, _own, _seeds.Count);
        if (IsSeed && !wasSeed) _began = node.Now;
    }

    // A seed asked, or answered that it does not know the Oracle.
    private void Heard(int peer)
    {
        if (_seeds.Find(seed => IsAt(seed, peer)) is { } reached)
        {
            reached.HeardAt = node.Now;
            if (reached.FirstHeard == 0) reached.FirstHeard = node.Now;
            (reached.Refused, reached.Foreign) = (false, false);
            return;
        }
        NodeAddress address = node.Links.AddressOf(peer);
        if (_seeds.Find(seed => seed.Address == address) is not { } claimed || Reached(claimed) != 0) return;
        if (claimed.FirstClaimed == 0) claimed.FirstClaimed = node.Now;
        claimed.ClaimedAt = node.Now;
    }

    /// <summary>Whether this peer was asked: a node reached at a seed's address, or at an address where another process of the system was.</summary>
    public bool Asks(int peer) => _seeds.Exists(seed => IsAt(seed, peer)) || _known.Exists(known => IsAt(known, peer));

    public void OnFault(int peer, LinkFault fault)
    {
        if (_seeds.Find(seed => seed.Peer == peer) is not { } seed) return;
        if (fault == LinkFault.Itself)
        {
            // So it may found: at an address behind which another machine maps a port to this node, or at another address of this machine. But behind one for which a name stands there may
            // be several processes: none of them may found, since the others may never be reached.
            if (!list.IsOfName(seed.Address)) _itself.Add(seed.Address);
            else if (!seed.IsShared) OnShared?.Invoke(seed.Address);
            seed.IsShared = true;
            Renew();
            return;
        }
        // Another cluster at the address counts as a refusal: no process of this cluster listens there.
        if (fault is LinkFault.Refused or LinkFault.WrongCluster) seed.Refused = true;
        if (fault is not LinkFault.WrongCluster || seed.Foreign) return;
        seed.Foreign = true;
        OnForeign?.Invoke(seed.Address);
    }

    private void Ask(Seed seed)
    {
        int peer = node.Links.Open(seed.Address);
        // Questions sent over another link may never be answered.
        if (peer != seed.Peer) (seed.Peer, seed.Questions, seed.Answered, seed.Awaited) = (peer, 0, 0, Math.Min(seed.Awaited, 1));
        seed.Questions++;
        sender.Reply(peer, new WhoIsOracle(Announces));
    }

    private void Announce()
    {
        (_announcing, _asked) = (node.Now, long.MinValue / 2);
        foreach (var seed in _seeds) seed.Awaited = seed.Questions + 1;
    }

    /// <summary>Whether the seeds that are there know that this process is about to found, and none of them is about to itself.</summary>
    private bool IsClear()
    {
        long announced = node.Now - _announcing;
        if (_announcing == 0 || announced < AnnouncedFor || (IsStrangerThere && announced < TimeFor(_stranger))) return false;
        return !_seeds.Exists(seed => IsFresh(seed) && announced < (seed.Answered < seed.Awaited ? MostSilent : TimeFor(seed.Rival)));
    }

    /// <summary>How long a rival's announcement holds this process up after its own: longer if the rival has only just announced, and goes first.</summary>
    private long TimeFor(Rival rival) => !rival.Announces ? 0 : rival.NodeId < node.Id && GoesFirst(rival) ? YieldTo : MostSilent;

    private bool IsStrangerThere => _stranger.Announces && node.Now - _stranger.HeardAt < MostSilent;

    /// <summary>A rival says whether it is about to found. It goes first, unless this process has announced before and has the lower node number.</summary>
    private void Hear(Rival rival, ulong nodeId, bool announces)
    {
        // A rival that was stopped, or whose link was, may have been silent for as long as an answer is waited for. It then counts as one that has said nothing before.
        if (rival.NodeId != nodeId || node.Now - rival.HeardAt >= MostSilent) (rival.NodeId, rival.Since) = (nodeId, 0);
        (rival.Announces, rival.HeardAt) = (announces, node.Now);
        if (!announces)
        {
            rival.Since = 0;
        }
        else if (rival.Since == 0 && (_announcing == 0 || nodeId < node.Id))
        {
            rival.Since = node.Now;
            if (!HasYielded) _announcing = 0;
        }
    }

    private bool GoesFirst(Rival rival) => rival.Since != 0 && node.Now - rival.Since < YieldTo;

    private static long Later(long time, long by) => time == 0 ? 0 : time + by;

    private ulong Reached(Seed seed) => seed.Peer < 0 ? 0 : node.Links.NodeIdOf(seed.Peer);

    private bool IsAt(Seed seed, int peer) => seed.Peer >= 0 && (seed.Peer == peer || (Reached(seed) is not 0 and ulong id && node.Links.NodeIdOf(peer) == id));

    private bool IsFresh(Seed seed) => seed.HeardAt != 0 && node.Now - seed.HeardAt < Fresh;

    /// <summary>Whether something indicates that a process at this address may still found, or has founded.</summary>
    private bool IsHeard(Seed seed, int place)
    {
        long now = node.Now;
        if (IsFresh(seed)) return place >= _own || now - seed.FirstHeard < _deference.To(place);
        return seed.ClaimedAt != 0 && Reached(seed) == 0 && now - seed.ClaimedAt < Fresh && now - seed.FirstClaimed < _deference.ToClaim;
    }

    private bool MayFound()
    {
        if (_own < 0 || !IsTurn()) return false;
        if (!GoesFirst(_stranger) && !_seeds.Exists(seed => IsFresh(seed) && GoesFirst(seed.Rival))) return true;
        if (node.Now - _yielded >= YieldTo) _yieldedFrom = node.Now;
        _yielded = node.Now;
        return HasYielded;
    }

    /// <summary>Whether others have gone first for long enough: they may never found, and more may come in their place.</summary>
    private bool HasYielded => node.Now - _yielded < YieldTo && node.Now - _yieldedFrom >= MostYielding;

    /// <summary>Whether this process has waited as long as the places of the seeds ask for.</summary>
    private bool IsTurn()
    {
        // However many seeds come and are silent, that ends.
        bool waitedEnough = node.Now - _began >= MostWaiting;
        // The place of a name without an address counts as a seed that is silent.
        if (!list.IsComplete && node.Now - _began < SilenceBeforeFounding) return false;
        for (int i = 0; i < _seeds.Count; i++)
        {
            Seed seed = _seeds[i];
            bool waited = waitedEnough || node.Now - seed.Since >= SilenceOf(seed);
            bool heard = IsHeard(seed, i);
            if (i < _own && (heard || !(seed.Refused || waited))) return false;
            // A later seed may have founded already: wait for its answer, or its silence.
            if (i >= _own && !(heard || seed.Refused || waited)) return false;
        }
        return true;
    }

    // Whoever shows itself on the local network can be dialled at once, or may be nobody.
    private long SilenceOf(Seed seed) => list.IsOfLan(seed.Address) ? LanSilence : SilenceBeforeFounding;

    private sealed class Seed(NodeAddress address)
    {
        public const int NotAsked = -2;

        public NodeAddress Address { get; } = address;

        public int Peer { get; set; } = NotAsked;

        /// <summary>Since when it is a seed here.</summary>
        public long Since { get; set; }

        /// <summary>When the node reached at the address last asked, or answered that it knows no Oracle.</summary>
        public long HeardAt { get; set; }

        public long FirstHeard { get; set; }

        public Rival Rival { get; } = new();

        /// <summary>How often the seed was asked over the current link, how often it answered, and how many answers an announcement waits for.</summary>
        public long Questions { get; set; }

        public long Answered { get; set; }

        public long Awaited { get; set; }

        /// <summary>When a process that dialled in, from an unknown place, last said that it listens there.</summary>
        public long ClaimedAt { get; set; }

        public long FirstClaimed { get; set; }

        public bool Refused { get; set; }

        public bool Foreign { get; set; }

        /// <summary>Whether this process itself answers there.</summary>
        public bool IsShared { get; set; }

        public void Doubt(long stopped)
        {
            Since += stopped;
            (HeardAt, FirstHeard) = (Later(HeardAt, stopped), Later(FirstHeard, stopped));
            (ClaimedAt, FirstClaimed) = (Later(ClaimedAt, stopped), Later(FirstClaimed, stopped));
            Rival.Doubt(stopped);
        }
    }

    /// <summary>Another process that may found.</summary>
    private sealed class Rival
    {
        public ulong NodeId { get; set; }

        /// <summary>Whether its last message said that it is about to found.</summary>
        public bool Announces { get; set; }

        /// <summary>When that message came.</summary>
        public long HeardAt { get; set; }

        /// <summary>Since when this process waits for it; 0 when it does not.</summary>
        public long Since { get; set; }

        public void Doubt(long stopped) => (HeardAt, Since) = (Later(HeardAt, stopped), Later(Since, stopped));
    }
}
