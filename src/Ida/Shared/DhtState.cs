using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Maps;
using Ida.Placement;
using Ida.Shared;

namespace Ida;

/// <summary>State that the parts of one member's DHT share. Written at view changes and at the end of the DHT; Blocked, Initialised and when it last asked for a view also in between.</summary>
internal sealed class DhtState(IGroupPort port, DhtOptions options, DeclaredMaps maps, HybridClock clock)
{
    private const long BetweenViews = 1_000_000_000;
    private long _mayAskForView;

    public readonly IGroupPort Port = port;
    public readonly INode Node = port.Node;
    public readonly DhtRules Rules = DhtRules.Without(port.Node.Without);
    public readonly DhtOptions Options = options;
    public readonly DhtMemberOptions Own = options.Member;
    public readonly DeclaredMaps Maps = maps;
    public readonly HybridClock Clock = clock;
    public readonly DhtCounters Counters = new();

    /// <summary>The name of the group.</summary>
    public string GroupName => Port.View?.Name ?? "?";

    /// <summary>Null while the DHT does not serve.</summary>
    public ShardMap? Map;
    public ulong View;
    public int Rank = -1, Slot = -1, Shard = -1;
    public bool Initialised, Wedged, Blocked;
    public UInt128 Session;

    /// <summary>Sessions of the members by rank, 0 for those without a slot.</summary>
    public UInt128[] SessionOfRank = [];

    /// <summary>
    /// Whether a read may be answered: no view without this process can be in force. Puts need no such test, since all their
    /// participants must have proposed (dht-order.md#no-answer-without-a-lease).
    /// </summary>
    public bool CanAnswer => (!Wedged || !Rules.WedgeFreezes) && (!Rules.Fence || (!Blocked && Port.HoldsLease));

    /// <summary>Whether anything may be proposed, executed or sent.</summary>
    public bool Acts => Map is not null && (!Wedged || !Rules.WedgeFreezes);

    /// <summary>A time is too far ahead here. Views align clocks, so this asks for one: at most once a second.</summary>
    public void AskForView()
    {
        if (Node.Now < _mayAskForView) return;
        _mayAskForView = Node.Now + BetweenViews;
        Port.RequestView();
    }

    /// <summary>The rank of the member that owns a session, −1 when none does.</summary>
    public int OwnerOf(UInt128 session)
    {
        if (session == Session) return Rank;
        return session == 0 ? -1 : Array.IndexOf(SessionOfRank, session);
    }
}
