using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State;

namespace Oracle.Client;

/// <summary>
/// A voter's notice to seed addresses at which no process of its system listens: a process that starts there hears of the system before it may found
/// another one, and a process that has founded one meanwhile hears of it too. Without it a lone seed that restarts would not know that the others live. Names among the seeds are
/// looked up again, every second while a seed is vacant or was lost a moment ago: a process that starts anew may have another address.
/// Source: oracle.md#voters-tell-vacant-seeds.
/// </summary>
internal sealed class SeedBeacon(INode node, SeedList seeds, FrameSender sender)
{
    /// <summary>How often a notice goes out; a process that may found listens for five times as long.</summary>
    public const long Every = 200 * Durations.Millisecond;

    private const long HurriesFor = 10 * Durations.Second;
    private const long OwnFor = 5 * Durations.Second;
    private readonly List<Vacancy> _vacancies = [];
    private long _next;
    private long _hurriesUntil = long.MinValue;
    private int _version;

    public void OnUp(int peer)
    {
        if (_vacancies.Find(vacancy => vacancy.Peer == peer) is not { } found) return;
        found.Up = true;
        _next = 0;
    }

    public void OnFault(int peer, LinkFault fault)
    {
        var address = node.Links.AddressOf(peer);
        foreach (var vacancy in _vacancies)
        {
            // Whatever listened there may have moved, so that its name stands for another address now.
            if (vacancy.Seed == address) _hurriesUntil = node.Now + HurriesFor;
            if (vacancy.Peer == peer)
            {
                vacancy.Up = false;
                if (fault == LinkFault.Itself) vacancy.OwnUntil = node.Now + OwnFor;
                // Another node is there, on a new link. Ask for that link at once: users that still ask for the gone node, as probes do every 100 ms, would turn a link to
                // whatever node is there into a link to the old node again.
                if (fault == LinkFault.Replaced) (vacancy.Peer, _next) = (node.Links.Open(vacancy.Seed), 0);
            }
            // The process that listened there is gone; the Oracle may not have excluded it yet.
            if (vacancy.Seed == address && fault is (LinkFault.Refused or LinkFault.Replaced) && node.Links.NodeIdOf(peer) is not 0 and ulong gone) vacancy.Gone = gone;
        }
    }

    /// <summary>Called every 100 ms at a voter that is in contact with the Oracle.</summary>
    public void Step(OracleState state, Configuration replicas, Replica leader, bool isSettled)
    {
        if (node.Now < _next) return;
        _next = node.Now + Every;
        bool hurries = seeds.HasNames && (!seeds.IsComplete || node.Now < _hurriesUntil || _vacancies.Exists(vacancy => !IsTaken(vacancy, state) && !Reaches(vacancy, state)));
        seeds.Step(hurries ? SeedList.Soon : SeedList.Seldom);
        if (_version != seeds.Version) Renew();
        foreach (var vacancy in _vacancies)
        {
            // A second address of a process leads to the same link.
            if (Reaches(vacancy, state)) continue;
            if (IsTaken(vacancy, state))
            {
                (vacancy.Peer, vacancy.Up) = (-1, false);
                continue;
            }
            // Keep a link that is up: other users here still ask for the node that listened there before, so a newer link may be to that node and would never come up.
            int peer = vacancy.Up && node.Links.NodeIdOf(vacancy.Peer) != 0 ? vacancy.Peer : node.Links.Open(vacancy.Seed);
            if (peer != vacancy.Peer) (vacancy.Peer, vacancy.Up) = (peer, false);
            // Nothing is queued for an address at which no process listens.
            if (vacancy.Up) sender.Reply(peer, new OracleIs(replicas, leader, isSettled));
            else node.Links.Probe(peer);
        }
    }

    private void Renew()
    {
        _version = seeds.Version;
        var old = _vacancies.ToArray();
        _vacancies.Clear();
        foreach (var seed in seeds.Addresses)
            if (seed != node.Links.Local) _vacancies.Add(Array.Find(old, vacancy => vacancy.Seed == seed) ?? new(seed));
    }

    private bool Reaches(Vacancy vacancy, OracleState state) =>
        vacancy.Up && node.Links.NodeIdOf(vacancy.Peer) is not 0 and ulong there && there != vacancy.Gone && state.FindNode(there) is { Alive: true };

    private bool IsTaken(Vacancy vacancy, OracleState state)
    {
        if (node.Now < vacancy.OwnUntil) return true;
        foreach (var process in state.Processes)
            if (process.Alive && process.Address == vacancy.Seed && process.Id.Node != vacancy.Gone) return true;
        return false;
    }

    private sealed class Vacancy(NodeAddress seed)
    {
        public NodeAddress Seed { get; } = seed;

        public int Peer { get; set; } = -1;

        public bool Up { get; set; }

        /// <summary>Until when it is not dialled, since this process itself answered there. A name may stand for one address behind which are several processes.</summary>
        public long OwnUntil { get; set; } = long.MinValue;

        /// <summary>The node that is known not to listen there any more.</summary>
        public ulong Gone { get; set; }
    }
}
