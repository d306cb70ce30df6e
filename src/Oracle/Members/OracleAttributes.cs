using GroupCore.Diagnostics;
using GroupCore.Membership;

namespace Oracle;

/// <summary>What membership says about itself in numbers.</summary>
internal static class OracleAttributes
{
    public static AttributeSet<OracleMember> All { get; } = new("node",
    [
        new("ida.oracle.active", AttributeKind.Gauge, "1", "1 while the process is registered and has contact with the Oracle, else 0", static oracle => oracle.State == MembershipState.Active ? 1 : 0),
        new("ida.oracle.leads", AttributeKind.Gauge, "1", "1 while this node leads the Oracle, else 0", static oracle => oracle.Replica?.Log.Leading is null ? 0 : 1),
        new("ida.oracle.votes", AttributeKind.Gauge, "1", "1 while this node is a voter of the Oracle, as far as it knows, else 0", static oracle => oracle.Votes ? 1 : 0),
        new("ida.oracle.voters", AttributeKind.Gauge, "{process}", "voters of the Oracle, as far as this node knows", static oracle => oracle.Voters.Count),
        new("ida.oracle.term", AttributeKind.Gauge, "1", "the term of this node's copy of the log; 0 without a copy", static oracle => (long)(oracle.Replica?.Log.Term ?? 0)),
        new("ida.oracle.log.committed", AttributeKind.Counter, "{entry}", "entries of the log that are committed, as this node's copy knows; 0 without a copy", static oracle => (long)(oracle.Replica?.Log.Commit ?? 0)),
        new("ida.oracle.log.applied", AttributeKind.Counter, "{entry}", "entries of the log that this node's copy has applied", static oracle => (long)(oracle.Replica?.Log.Applied ?? 0)),
        new("ida.oracle.requests", AttributeKind.UpDownCounter, "{request}", "requests of this process to the Oracle that have no answer", static oracle => oracle.Requests),
        new("ida.oracle.watched", AttributeKind.UpDownCounter, "{process}", "processes that this node watches or suspects", static oracle => oracle.Detector.Watched),
        new("ida.oracle.health", AttributeKind.Gauge, "1", "how much this node doubts its own loop, 0 (healthy) to 8: its suspicions of others count less", static oracle => oracle.Detector.Health),
        new("ida.oracle.loop.late", AttributeKind.Gauge, "ns", "the most, in this life, by which one of the node's ticks of 100 ms was late: a turn took long, or the process was held up", static oracle => oracle.LongestDelay),
    ]);
}
