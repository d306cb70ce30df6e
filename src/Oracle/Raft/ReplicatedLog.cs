using System.Buffers;
using GroupCore.Runtime;

namespace Oracle.Raft;

/// <summary>
/// One replica of the Oracle's log: Raft with pre-vote, check-quorum, leadership transfer, learners, single-server changes and read-index.
/// </summary>
/// <remarks>
/// <para>Guarantees: at most one leader per term; a committed entry is in the log of every later leader; replicas apply the same entries
/// in the same order. A decision needs a majority of the latest configuration, which is the primary partition (oracle.md#majority-of-the-latest-configuration).</para>
/// <para>Roles are classes (<see cref="Follower"/>, <see cref="PreCandidate"/>, <see cref="Candidate"/>, <see cref="Leader"/>); a learner is a
/// follower that its configuration does not list as a voter, so it never campaigns. Frames leave at the end of the turn, so that the
/// entries and read rounds of a turn share one frame per replica.</para>
/// <para>Failure cases: a leader that hears no majority for 1 s, or an election time-out if that is more, steps down; a replica behind the cut gets the saved
/// state; frames lost with a closed link show as a gap that the next heartbeat repairs. A replica that a majority cannot dial is not elected: that majority would not believe
/// its decisions. A voter that cannot dial a candidate elects it only where other replicas have introduced it, and the candidate has more of the log (so the roles could not be
/// swapped) or the leader hands over to it. State lives in memory: a process that restarts is another replica.
/// Source: oracle.md#rules; Ongaro and Ousterhout 2014, and Ongaro's erratum on single-server changes.</para>
/// </remarks>
internal sealed class ReplicatedLog : ITimerTarget
{
    private const long SnapshotAtBytes = 8 << 20;

    // 2^32 terms are about ten elections a second for more than ten years: no replica is ever that far behind.
    private const ulong MostAhead = 1UL << 32;

    /// <summary>Bound of the uncommitted entries that a replica takes: four times what an honest leader appends.</summary>
    public const ulong MostUncommitted = 4 * Leader.UncommittedEntries;
    private const long MostUncommittedBytes = 4 * Leader.UncommittedBytes;

    // A leader that sends a state is heard far more often than this.
    private const long IncomingLife = 30 * Durations.Second;

    // Saving takes the whole turn, 0.1 s with 100,000 memberships, so replicas save at different entries.
    private readonly ulong _saveLater;
    private IncomingState? _incoming;
    private long _appliedBytes;
    private TimerHandle _timer;

    public ReplicatedLog(INode node, OracleRules rules, OracleOptions options, ILogPort port, IStateMachine machine)
    {
        (Node, Rules, Options, Port, Machine) = (node, rules, options, port, machine);
        _saveLater = node.Id % (((ulong)options.SnapshotEntries / 8) + 1);
        Role = new Follower(this);
        Role.Enter();
    }

    public INode Node { get; }

    public OracleRules Rules { get; }

    public OracleOptions Options { get; }

    public ILogPort Port { get; }

    public IStateMachine Machine { get; }

    public EntryLog Entries { get; } = new();

    public ulong Term { get; private set; }

    public ulong VotedFor { get; private set; }

    public ulong Commit { get; private set; }

    public ulong Applied { get; private set; }

    public Role Role { get; private set; }

    public Leader? Leading => Role as Leader;

    /// <summary>The leader of the current term, node 0 while unknown.</summary>
    public Replica LeaderHint { get; private set; }

    public long LeaderContact { get; private set; } = long.MinValue / 2;

    /// <summary>Stretches election time-outs on a host that schedules late.</summary>
    public int TimeoutFactor { get; set; } = 1;

    /// <summary>The saved state, empty before the first.</summary>
    public (ulong Index, ulong Term, Configuration Configuration, ReadOnlyMemory<byte> Bytes) Saved { get; private set; } = (0, 0, Configuration.Empty, default);

    /// <summary>Bytes held of a state that has not arrived completely; for checks.</summary>
    public int Incoming => _incoming?.Count ?? 0;

    /// <summary>Called for every applied entry; for checkers.</summary>
    public Action<ulong, LogEntry>? OnApplied { get; set; }

    public bool IsVoter => Entries.Configuration.IsVoter(Node.Id);

    /// <summary>
    /// Whether this replica asks for votes. A replica that loses its vote by the latest configuration still does, until that configuration is known to be committed. By the
    /// configuration before, the others may need its vote, which it refuses to a candidate with a shorter log. Then it alone can be elected, by the latest configuration.
    /// </summary>
    public bool MayCampaign => IsVoter || (Entries.ConfigurationIndex > Commit && Entries.ConfigurationAt(Entries.ConfigurationIndex - 1).IsVoter(Node.Id));

    public long ElectionTimeout => Options.ElectionTimeout.Nanoseconds() * TimeoutFactor;

    /// <summary>Number of votes or acknowledgements that make a majority.</summary>
    public int Quorum
    {
        get
        {
            int voters = Entries.Configuration.Voters.Count;
            return Rules.RaftMajority ? (voters / 2) + 1 : Math.Max(1, voters / 2);
        }
    }

    /// <summary>
    /// Begins a new system with this process as its only voter. It leads from here on, so the founder's own registration, which follows, is
    /// the first entry: a voter that is not registered would be taken for one that has left.
    /// </summary>
    public void Found(Replica self)
    {
        Term = 1;
        VotedFor = self.Node;
        Entries.Append(new(1, EntryKind.Configuration, ConfigurationCodec.Write(new([self], []))));
        Become(new Leader(this));
        Role.EndOfTurn();
    }

    /// <summary>The process of this node is known to be gone; if it led, the election need not wait for the time-out.</summary>
    public void Lost(ulong node)
    {
        if (LeaderHint.Node != node || Role is not Follower follower) return;
        LeaderHint = default;
        LeaderContact = long.MinValue / 2;
        follower.Hurry();
        Port.OnRoleChanged();
    }

    public void EndOfTurn() => Role.EndOfTurn();

    public void OnTimer(long token)
    {
        _timer = default;
        // The part of a state received so far may be as large as everything else that this process holds.
        if (Node.Now - LeaderContact >= IncomingLife) _incoming = null;
        Role.OnTimer();
    }

    public void OnFrame(in Replica from, IFrame frame)
    {
        // This replica would adopt such a term and the other replicas would have to follow, until no higher term is left.
        if (TermOf(frame) > Term + MostAhead)
        {
            Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        switch (frame)
        {
            case VoteRequest request when request.Pre: OnPreVote(from, request); break;
            case VoteRequest request: OnVote(from, request); break;
            case AppendRequest request: OnAppend(from, request); break;
            case SnapshotChunk chunk: OnSnapshot(from, chunk); break;
            case VoteReply reply:
                if (!Outdated(reply.Granted && reply.Pre ? 0 : reply.Term)) Role.OnVoteReply(from, reply);
                break;
            case AppendReply reply:
                if (!Outdated(reply.Term) && reply.Term == Term) Role.OnAppendReply(from, reply);
                break;
            case SnapshotAck ack:
                if (!Outdated(ack.Term) && ack.Term == Term) Role.OnSnapshotAck(from, ack);
                break;
            case TimeoutNow now when now.Term == Term && Role is Follower && IsVoter: Become(new Candidate(this, transfer: true)); break;
            default: Node.Counters.Refuse(RefusalReason.Unexpected); break;
        }
    }

    private static ulong TermOf(IFrame frame) => frame switch
    {
        VoteRequest request => request.Term,
        VoteReply reply => reply.Term,
        AppendRequest request => request.Term,
        AppendReply reply => reply.Term,
        SnapshotChunk chunk => chunk.Term,
        SnapshotAck ack => ack.Term,
        _ => 0,
    };

    internal void Arm(long due)
    {
        Node.CancelTimer(_timer);
        _timer = Node.SetTimer(due, this, 0);
    }

    internal void Become(Role role)
    {
        Role = role;
        role.Enter();
        Port.OnRoleChanged();
    }

    /// <summary>As a candidate, starts the next term with a vote for itself.</summary>
    internal void NextTerm()
    {
        Term++;
        VotedFor = Node.Id;
        LeaderHint = default;
        _incoming = null;
    }

    internal void StepDown(ulong term)
    {
        // A leader of another term sends a state from its first part again.
        if (term > Term) (Term, VotedFor, _incoming) = (term, 0, null);
        LeaderHint = default;
        Become(new Follower(this));
    }

    internal void Lead() => LeaderHint = new(Node.Id, Node.Links.Local);

    internal void CommitThrough(ulong index)
    {
        if (index <= Commit) return;
        Commit = index;
        if (_incoming?.Index <= Commit) _incoming = null;
        while (Applied < Commit)
        {
            LogEntry entry = Entries[++Applied];
            _appliedBytes += entry.Content.Length;
            OnApplied?.Invoke(Applied, entry);
            if (entry.Kind == EntryKind.Operations) Machine.Apply(Applied, entry.Content);
        }
        Save();
        Port.OnProgress();
    }

    internal bool UpToDate(VoteRequest request) => !Rules.RaftUpToDateVote
        || request.LastTerm > Entries.LastTerm || (request.LastTerm == Entries.LastTerm && request.LastIndex >= Entries.LastIndex);

    /// <summary>Whether this replica leads, or has heard the leader within the shortest election time-out.</summary>
    public bool HearsLeader => Role is Leader || (LeaderHint.Node != 0 && Node.Now - LeaderContact < ElectionTimeout);

    /// <summary>
    /// Whether an up-to-date candidate may have the vote. A candidate that was only introduced gives way to a replica with as much of the log, which other
    /// replicas may be able to dial, unless the leader hands over to it.
    /// </summary>
    private bool MayLead(in Replica from, VoteRequest request) =>
        Port.IsConfirmed(from) || ((request.Transfer || (request.LastTerm, request.LastIndex) != (Entries.LastTerm, Entries.LastIndex)) && Port.IsIntroduced(from));

    private bool Outdated(ulong term)
    {
        if (term <= Term) return false;
        StepDown(term);
        return true;
    }

    private void OnPreVote(in Replica from, VoteRequest request)
    {
        bool granted = request.Term > Term && UpToDate(request) && !HearsLeader && MayLead(from, request);
        Port.Send(from, new VoteReply(true, granted ? request.Term : Term, granted));
    }

    private void OnVote(in Replica from, VoteRequest request)
    {
        // A replica cut off for a while must not depose a leader that a majority hears.
        if (request.Term > Term && HearsLeader && !request.Transfer) return;
        Outdated(request.Term);
        bool granted = request.Term == Term && (VotedFor == 0 || VotedFor == from.Node) && UpToDate(request) && MayLead(from, request);
        if (granted)
        {
            VotedFor = from.Node;
            if (Role is Follower follower) follower.Heard();
            else StepDown(Term);
        }
        Port.Send(from, new VoteReply(false, Term, granted));
    }

    /// <summary>Accepts the sender as the leader of the term; false when it is not.</summary>
    private bool Follow(in Replica from, ulong term)
    {
        if (term < Term)
        {
            Port.Send(from, new AppendReply(Term, false, Entries.LastIndex, 0));
            return false;
        }
        if (term == Term && Role is Leader)
        {
            Node.Counters.Refuse(RefusalReason.Unexpected);
            return false;
        }
        if (term > Term || Role is not Follower) StepDown(term);
        bool changed = LeaderHint != from;
        (LeaderHint, LeaderContact) = (from, Node.Now);
        ((Follower)Role).Heard();
        if (changed) Port.OnRoleChanged();
        return true;
    }

    private void OnAppend(in Replica from, AppendRequest request)
    {
        if (!Follow(from, request.Term)) return;
        ulong previous = request.PrevIndex, last = previous + (ulong)request.Entries.Count;
        if (previous > Entries.LastIndex)
        {
            Port.Send(from, new AppendReply(Term, false, Entries.LastIndex, request.Read));
            return;
        }
        if (previous >= Entries.Base && Entries.TermAt(previous) != request.PrevTerm)
        {
            Port.Send(from, new AppendReply(Term, false, BeforeConflict(previous), request.Read));
            return;
        }
        for (int i = 0; i < request.Entries.Count; i++)
        {
            ulong index = previous + 1 + (ulong)i;
            LogEntry entry = request.Entries[i];
            // Entries that were cut away are committed, so the leader has them too.
            if (index <= Entries.Base || (index <= Entries.LastIndex && Entries.TermAt(index) == entry.Term)) continue;
            if (index <= Commit)
            {
                Node.Counters.Refuse(RefusalReason.Unexpected);
                return;
            }
            if (index <= Entries.LastIndex) Entries.Truncate(index);
            // Uncommitted entries cannot be cut away. An honest leader never goes so far; one that commits some of them sends the rest again.
            if (Entries.LastIndex - Commit >= MostUncommitted || Entries.BytesBehind(Commit) + entry.Content.Length > MostUncommittedBytes)
            {
                Node.Counters.Refuse(RefusalReason.Unexpected);
                last = index - 1;
                break;
            }
            Entries.Append(entry);
        }
        CommitThrough(Math.Min(request.Commit, last));
        // An honest leader has every committed entry. If a lie has moved the commit index of this replica beyond the leader's log, the leader must not count this replica.
        Port.Send(from, new AppendReply(Term, true, Math.Max(last, Commit), request.Read));
    }

    /// <summary>The last index before the entries of the conflicting term: one round per term, not per entry.</summary>
    private ulong BeforeConflict(ulong index)
    {
        ulong term = Entries.TermAt(index);
        while (index > Math.Max(Entries.Base, Commit) && Entries.TermAt(index) == term) index--;
        return index;
    }

    private void OnSnapshot(in Replica from, SnapshotChunk chunk)
    {
        if (!Follow(from, chunk.Term)) return;
        if (chunk.LastIndex <= Commit)
        {
            Port.Send(from, new AppendReply(Term, true, Commit, 0));
            return;
        }
        // After an index near the maximum, no further one could be sent. Only a replica that has nothing yet cannot know how far the others are.
        if (Commit > 0 && chunk.LastIndex - Commit > MostAhead)
        {
            Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        if (_incoming is null || !_incoming.IsOf(chunk)) _incoming = new(chunk.Term, chunk.LastIndex, chunk.Total, Machine.BeginRestore());
        var incoming = _incoming;
        incoming.Take(chunk);
        if (!incoming.IsWhole)
        {
            Port.Send(from, new SnapshotAck(Term, chunk.LastIndex, incoming.Count));
            return;
        }
        _incoming = null;
        if (!incoming.IsSound)
        {
            Node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        incoming.Finish();
        // If both logs have the last entry of the state, the entries after it may be acknowledged and count for a majority: they stay (Ongaro and Ousterhout 2014, section 7).
        if (Entries.Knows(chunk.LastIndex) && Entries.TermAt(chunk.LastIndex) == chunk.LastTerm && Rules.RaftKeepMatching) Entries.Cut(chunk.LastIndex);
        else Entries.Reset(chunk.LastIndex, chunk.LastTerm, chunk.Configuration);
        Commit = Applied = chunk.LastIndex;
        Saved = (chunk.LastIndex, chunk.LastTerm, chunk.Configuration, incoming.Bytes);
        _appliedBytes = 0;
        Port.OnProgress();
        Port.Send(from, new AppendReply(Term, true, chunk.LastIndex, 0));
    }

    private void Save()
    {
        // Counts applied bytes, not held ones. Uncommitted entries cannot be cut away; if they counted, the state would be saved again at each commit.
        if (Applied - Saved.Index < (ulong)Options.SnapshotEntries + _saveLater && _appliedBytes < SnapshotAtBytes + ((long)_saveLater << 10)) return;
        if (Applied == Saved.Index) return;
        _appliedBytes = 0;
        // The buffer has room for some growth and is then kept as it is: moving it would take as long as writing it.
        var buffer = new ArrayBufferWriter<byte>(Math.Max(1_024, Saved.Bytes.Length + (Saved.Bytes.Length / 16)));
        Machine.Save(buffer);
        Saved = (Applied, Entries.TermAt(Applied), Entries.ConfigurationAt(Applied), buffer.WrittenMemory);
        ulong keep = (ulong)Options.SnapshotKeep;
        if (Applied > keep) Entries.Cut(Applied - keep);
        if (Entries.Bytes >= SnapshotAtBytes) Entries.Cut(Applied);
    }
}
