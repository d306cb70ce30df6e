using GroupCore.Runtime;
using Oracle.Raft;
using Oracle.State;

namespace Oracle.Leading;

/// <summary>
/// Keeps the Oracle at its size: 1 voter (and a learner) up to two processes, 3 from three on, 5 from five on when so configured. It takes the oldest processes first and
/// prefers other hosts. It makes one change at a time, and learners catch up before they vote.
/// </summary>
/// <remarks>
/// <para>With two voters the death of either stops the Oracle; with one voter, only its own. So two processes have one voter and a learner, and even sizes exist only in
/// passing. A first promotion waits until enough learners for the next odd size have caught up. From there the steps follow each other without a pause, since
/// <see cref="Step"/> is called with everything that may allow the next: a commit, a learner that caught up, a process registered or gone. The learner heard last is promoted
/// first: on the way from one voter to three, its death alone stops the Oracle, and only if it comes in the round trip after its last answer. The founder's death alone does so
/// until three vote.</para>
/// <para>A dead voter is removed before its successor is added (with four voters in passing one more crash would stop the Oracle), but not before that successor has
/// caught up or 2 s have passed. If the number of voters is even, a dead one goes at once: without it as many deaths are survived. A voter that leaves, or is one too many, is
/// removed in the same way; a leader hands over first. No voter is removed unless a majority of the voters that stay follows the leader: otherwise neither that change nor
/// anything after it could be committed. Its successor is then added first. A leader that does not vote by the committed configuration
/// (<see cref="ReplicatedLog.MayCampaign"/>) hands over before anything else: its own acknowledgement does not count, and it could not be promoted.</para>
/// <para>A process that the leader cannot dial is neither taken as a learner nor promoted, and it blocks no other process. The lead is handed over to it only if it was
/// introduced and the leader can dial no other voter: processes that cannot dial it would not believe it as leader. If a leader leaves and can dial none of the processes that
/// stay, one of them becomes a voter all the same, and the leader removes itself instead of handing over: a single voter needs no other to believe it.</para>
/// <para>Source: oracle.md#the-size-of-the-oracle, #a-leader-can-be-dialled, #one-change-of-the-configuration-at-a-time.</para>
/// </remarks>
internal sealed class ConfigurationKeeper(INode node, OracleOptions options)
{
    private const ulong CaughtUp = 64;
    private const long SuccessorWait = 2 * Durations.Second;
    private long _deadSince;

    // This process leaves and can dial none of the processes that may take its place.
    private bool _reachesNone;

    /// <summary>Takes the next step, if one is due and allowed.</summary>
    public void Step(ReplicatedLog log, OracleState state)
    {
        if (log.Leading is not { } leader || !leader.MayChange) return;
        var configuration = log.Entries.Configuration;
        var wanted = Wanted(configuration, state);
        int target = Target(wanted.Count);
        _reachesNone = !Contains(wanted, node.Id) && !wanted.Exists(process => log.Port.IsConfirmed(new(process.Id.Node, process.Address)));
        if (!configuration.IsVoter(node.Id) && Successor(log, leader, configuration, wanted) is { } successor)
        {
            leader.TransferTo(successor.Node);
            return;
        }
        if (DropLearner(leader, configuration, wanted)) return;

        var learners = configuration.Learners;
        var ready = Ready(log, leader, learners);

        // Whether this leader is to go and can hand over to nobody: then one that it can dial has to vote first, however many there are.
        bool stays = false;
        if (FindUnwanted(leader, configuration, wanted, target) is { } surplus)
        {
            if (_deadSince == 0) _deadSince = node.Now;
            bool replaced = configuration.Voters.Count > target || configuration.Voters.Count % 2 == 0 || ready.Count > 0 || node.Now - _deadSince >= SuccessorWait;
            if (configuration.Voters.Count > 1 && replaced && MayGo(leader, configuration, surplus))
            {
                if (TryRemove(log, leader, configuration, surplus, wanted)) return;
                stays = true;
            }
        }
        else
        {
            _deadSince = 0;
        }
        int live = 0;
        foreach (var voter in configuration.Voters)
            if (Contains(wanted, voter.Node)) live++;
        int missing = Math.Max(target - live, stays ? 1 : 0);
        int spare = wanted.Count == 2 ? 1 : 0;
        if (Coming(log, leader, learners) < missing + (missing > 0 ? 0 : spare) && Candidate(log, wanted, state) is { } next)
        {
            leader.TryChange(configuration.WithLearner(next));
        }
        else if (stays && configuration.Voters.Count <= target + 1 && ready.FindIndex(replica => log.Port.IsConfirmed(replica)) is >= 0 and var heir)
        {
            leader.TryChange(configuration.Promote(ready[heir]));
        }
        else if (missing > 0 && !stays && ready.Count >= Math.Min(missing, configuration.Voters.Count % 2 == 1 ? 2 : 1) && configuration.Voters.Count < target + 1)
        {
            leader.TryChange(configuration.Promote(ready[0]));
        }
        else if (missing > 0 && ready.Count > 0 && live == 0)
        {
            // The only voter is leaving: its successor must vote before it can go.
            leader.TryChange(configuration.Promote(ready[0]));
        }
    }

    /// <summary>
    /// Number of learners that may vote soon. A learner that does not answer, perhaps because it cannot confirm the leader, blocks no other. A new leader counts all at first.
    /// </summary>
    private int Coming(ReplicatedLog log, Raft.Leader leader, IReadOnlyList<Replica> learners)
    {
        if (node.Now - leader.Since < SuccessorWait) return learners.Count;
        int coming = 0;
        foreach (var learner in learners)
            if (Reaches(log, learner) && !leader.IsSilent(learner.Node, SuccessorWait)) coming++;
        return coming;
    }

    private bool Reaches(ReplicatedLog log, in Replica other) => _reachesNone || log.Port.IsConfirmed(other);

    /// <summary>Learners that have caught up and that the leader can dial; the one heard last comes first.</summary>
    private List<Replica> Ready(ReplicatedLog log, Raft.Leader leader, IReadOnlyList<Replica> learners)
    {
        var ready = new List<Replica>();
        foreach (var learner in learners)
        {
            if (leader.LagOf(learner.Node) > CaughtUp || !Reaches(log, learner)) continue;
            int place = 0;
            while (place < ready.Count && leader.HeardAt(ready[place].Node) >= leader.HeardAt(learner.Node)) place++;
            ready.Insert(place, learner);
        }
        return ready;
    }

    private int Target(int processes) => processes switch
    {
        < 3 => 1,
        < 5 => 3,
        _ => options.OracleSize,
    };

    /// <summary>Processes that may be replicas, oldest first.</summary>
    private static List<ProcessRecord> Wanted(Configuration configuration, OracleState state)
    {
        var wanted = new List<ProcessRecord>();
        foreach (var process in state.Processes)
        {
            if (process.Status == ProcessStatus.Alive) wanted.Add(process);
            if (wanted.Count > Limits.Replicas + configuration.Voters.Count) break;
        }
        foreach (var voter in configuration.Voters)
            if (state.FindNode(voter.Node) is { Status: ProcessStatus.Alive } process && !wanted.Contains(process)) wanted.Add(process);
        return wanted;
    }

    private static bool Contains(List<ProcessRecord> wanted, ulong nodeId) => wanted.Exists(process => process.Id.Node == nodeId);

    private static bool DropLearner(Raft.Leader leader, Configuration configuration, List<ProcessRecord> wanted)
    {
        foreach (var learner in configuration.Learners)
        {
            if (Contains(wanted, learner.Node)) continue;
            leader.TryChange(configuration.Remove(learner.Node));
            return true;
        }
        return false;
    }

    /// <summary>
    /// A voter to remove: one that is gone or leaving, preferably one that the others can spare, else the leader, else any. If there is none but too many voters, the latest
    /// one that does not lead.
    /// </summary>
    private Replica? FindUnwanted(Raft.Leader leader, Configuration configuration, List<ProcessRecord> wanted, int target)
    {
        Replica? unwanted = null, self = null;
        foreach (var voter in configuration.Voters)
        {
            if (Contains(wanted, voter.Node)) continue;
            if (voter.Node == node.Id)
            {
                self = voter;
                continue;
            }
            if (MayGo(leader, configuration, voter)) return voter;
            unwanted ??= voter;
        }
        unwanted = self ?? unwanted;
        if (unwanted is not null || configuration.Voters.Count <= target) return unwanted;
        for (int i = configuration.Voters.Count - 1; i >= 0; i--)
            if (configuration.Voters[i].Node != node.Id) return configuration.Voters[i];
        return null;
    }

    /// <summary>Whether a majority of the voters that stay follows this leader.</summary>
    private bool MayGo(Raft.Leader leader, Configuration configuration, in Replica voter)
    {
        // The leader itself goes by handing over to a voter that follows.
        if (voter.Node == node.Id) return true;
        int follow = 0;
        foreach (var other in configuration.Voters)
            if (other.Node != voter.Node && (other.Node == node.Id || leader.LagOf(other.Node) <= CaughtUp)) follow++;
        return follow > (configuration.Voters.Count - 1) / 2;
    }

    // False if this leader itself is to go and none of the voters can take the lead: then others have to vote first.
    private bool TryRemove(ReplicatedLog log, Raft.Leader leader, Configuration configuration, Replica surplus, List<ProcessRecord> wanted)
    {
        if (surplus.Node != node.Id)
        {
            _deadSince = 0;
            leader.TryChange(Contains(wanted, surplus.Node) ? configuration.Demote(surplus) : configuration.Remove(surplus.Node));
            return true;
        }
        if (Successor(log, leader, configuration, wanted) is { } successor) leader.TransferTo(successor.Node);
        else if (_reachesNone && configuration.Voters.Count == 2) leader.TryChange(configuration.Remove(node.Id));
        else return false;
        return true;
    }

    /// <summary>
    /// The voter to hand over to: of the voters that stay, one that the leader can dial, else one that was introduced to it, and of these the one heard last. If one of them
    /// follows but none can take the lead, a voter that is leaving too may take it. If they are only silent or behind, that voter would only hand it back.
    /// </summary>
    private Replica? Successor(ReplicatedLog log, Raft.Leader leader, Configuration configuration, List<ProcessRecord> wanted)
    {
        bool Stays(Replica voter) => Contains(wanted, voter.Node);
        if (Successor(log, leader, configuration, Stays) is { } successor) return successor;
        return configuration.Voters.Any(voter => Stays(voter) && leader.LagOf(voter.Node) <= CaughtUp) ? Successor(log, leader, configuration, static _ => true) : null;
    }

    private Replica? Successor(ReplicatedLog log, Raft.Leader leader, Configuration configuration, Predicate<Replica> among)
    {
        Replica? best = null;
        var bestRank = (Confirmed: false, HeardAt: 0L);
        foreach (var voter in configuration.Voters)
        {
            if (voter.Node == node.Id || !among(voter) || leader.LagOf(voter.Node) > CaughtUp) continue;
            var rank = (Confirmed: log.Port.IsConfirmed(voter), HeardAt: leader.HeardAt(voter.Node));
            if (!rank.Confirmed && !log.Port.IsIntroduced(voter)) continue;
            if (best is null || rank.CompareTo(bestRank) > 0) (best, bestRank) = (voter, rank);
        }
        return best;
    }

    /// <summary>The next learner, of the processes that the leader can dial: the oldest on a host without a replica, else the oldest.</summary>
    private Replica? Candidate(ReplicatedLog log, List<ProcessRecord> wanted, OracleState state)
    {
        var configuration = log.Entries.Configuration;
        if (configuration.Voters.Count + configuration.Learners.Count >= Limits.Replicas) return null;
        ProcessRecord? first = null;
        foreach (var process in wanted)
        {
            if (configuration.Contains(process.Id.Node) || !Reaches(log, new(process.Id.Node, process.Address))) continue;
            first ??= process;
            bool taken = false;
            foreach (var other in configuration.Voters) taken |= state.FindNode(other.Node) is { } known && known.Host == process.Host;
            foreach (var other in configuration.Learners) taken |= state.FindNode(other.Node) is { } known && known.Host == process.Host;
            if (!taken) return new(process.Id.Node, process.Address);
        }
        return first is null ? null : new Replica(first.Id.Node, first.Address);
    }
}
