namespace Oracle.Raft;

/// <summary>
/// Replicates entries, commits them by majority, changes the configuration one replica at a time, and confirms by read rounds that it
/// still leads. Entries of earlier terms are committed only along with an entry of its own term.
/// </summary>
internal sealed class Leader(ReplicatedLog log) : Role(log)
{
    private const long QuorumTimeout = Durations.Second;
    private const long TransferTimeout = 600 * Durations.Millisecond;
    private const int BatchBytes = 256 << 10;
    private const ulong PipelineEntries = 4 * AppendRequest.MaxEntries;

    /// <summary>Bounds of the uncommitted entries, and of the bytes of their content: when either is reached, no more entries are taken.</summary>
    public const ulong UncommittedEntries = 8_192;
    public const long UncommittedBytes = 16 << 20;

    // Followers wait that long for a leader that they heard: if it stepped down earlier, no replica would lead in the meantime.
    private readonly long _patience = Math.Max(QuorumTimeout, log.Options.ElectionTimeout.Nanoseconds());
    private readonly List<Progress> _others = [];
    private ulong _firstOwn;
    private ulong _read;
    private ulong _readWanted;
    private ulong _confirmed;
    private long _transferUntil;
    private ulong _transferTo;
    private bool _dirty;

    /// <summary>When this leadership began, by this replica's clock: no lease that an earlier leader granted was asked for later than that.</summary>
    public long Since { get; private set; }

    /// <summary>Whether an entry of this leader's term is committed: then everything that earlier leaders committed is applied.</summary>
    public bool Ready => Log.Commit >= _firstOwn;

    /// <summary>The highest read round that a majority answered: the leadership was current when that round began.</summary>
    public ulong ConfirmedRead => Ready ? _confirmed : 0;

    public bool Transferring => _transferUntil != 0 && Log.Node.Now < _transferUntil;

    public override void Enter()
    {
        Since = Log.Node.Clock();
        Log.Lead();
        // Other replicas take no more uncommitted entries than this one, so its first entry needs room. Only a lying leader can have filled the log that far.
        if (Log.Entries.LastIndex - Log.Commit >= ReplicatedLog.MostUncommitted) Log.Entries.Truncate(Log.Commit + ReplicatedLog.MostUncommitted);
        _firstOwn = Log.Entries.LastIndex + 1;
        Log.Entries.Append(new(Log.Term, EntryKind.Noop, []));
        Follow();
        Touch();
        Log.Arm(Log.Node.Now + Log.Options.Heartbeat.Nanoseconds());
    }

    /// <summary>Appends operations; false when too much is uncommitted or the lead is being handed over.</summary>
    public bool TryAppend(byte[] operations)
    {
        if (Transferring || Log.Entries.LastIndex - Log.Commit >= UncommittedEntries || Log.Entries.BytesBehind(Log.Commit) >= UncommittedBytes) return false;
        Log.Entries.Append(new(Log.Term, EntryKind.Operations, operations));
        Touch();
        return true;
    }

    /// <summary>Whether the rules allow a change of the configuration now (oracle.md#a-change-waits-for-an-entry-of-the-own-term,
    /// #one-change-of-the-configuration-at-a-time).</summary>
    public bool MayChange => !Transferring
        && (Ready || !Log.Rules.RaftOwnTermFirst)
        && (Log.Entries.ConfigurationIndex <= Log.Commit || !Log.Rules.RaftOneChange);

    public bool TryChange(Configuration next)
    {
        if (!MayChange) return false;
        Log.Entries.Append(new(Log.Term, EntryKind.Configuration, ConfigurationCodec.Write(next)));
        Follow();
        Touch();
        return true;
    }

    /// <summary>Starts a read round with this turn; it is confirmed once <see cref="ConfirmedRead"/> reaches the number returned.</summary>
    public ulong BeginRead()
    {
        _readWanted = _read + 1;
        Touch();
        return _readWanted;
    }

    /// <summary>Hands the lead over to a voter, as soon as that voter is up to date.</summary>
    public void TransferTo(ulong node)
    {
        if (Transferring) return;
        (_transferTo, _transferUntil) = (node, Log.Node.Now + TransferTimeout);
        TryTransfer();
    }

    /// <summary>How many entries a replica lacks; <see cref="ulong.MaxValue"/> when it has not answered yet, or not lately.</summary>
    public ulong LagOf(ulong node) =>
        Find(node) is { Match: > 0 } other && Log.Node.Now - other.LastAck < QuorumTimeout ? Log.Entries.LastIndex - Math.Min(other.Match, Log.Entries.LastIndex) : ulong.MaxValue;

    /// <summary>Whether a replica has not answered, nor been added, within this time.</summary>
    public bool IsSilent(ulong node, long time) => Find(node) is not { } other || Log.Node.Now - other.LastAck >= time;

    /// <summary>When a replica last answered this leader; long ago if it never did, since the death of that replica may have caused this election.</summary>
    public long HeardAt(ulong node) => Find(node) is { HasAnswered: true } other ? other.LastAck : long.MinValue / 2;

    public override void OnTimer()
    {
        if (!HeardByMajority())
        {
            Log.StepDown(Log.Term);
            return;
        }
        _others.RemoveAll(other => other.RemovedUntil != 0 && Log.Node.Now >= other.RemovedUntil);
        foreach (var other in _others) Replicate(other, heartbeat: true);
        Log.Arm(Log.Node.Now + Log.Options.Heartbeat.Nanoseconds());
    }

    public override void EndOfTurn()
    {
        if (!_dirty) return;
        _dirty = false;
        _read = Math.Max(_read, _readWanted);
        Count();
        foreach (var other in _others) Replicate(other, heartbeat: false);
    }

    public override void OnAppendReply(in Replica from, AppendReply reply)
    {
        if (Find(from.Node) is not { } other) return;
        other.Answered(Log.Node.Now);
        if (reply.Read <= _read) other.Read = Math.Max(other.Read, reply.Read);
        if (reply.Ok && reply.Index <= Log.Entries.LastIndex)
        {
            // What voters have shows in the commit index. A learner's progress is passed on, since the learner may now become a voter.
            if (reply.Index > other.Match && Log.Entries.Configuration.IsLearner(from.Node)) Log.Port.OnProgress();
            other.Match = Math.Max(other.Match, reply.Index);
            other.Next = Math.Max(other.Next, other.Match + 1);
            if (other.Snapshot is { } sent && other.Match >= sent.Index) other.Snapshot = null;
            if (other.Next <= Log.Entries.LastIndex) Touch();
            TryTransfer();
        }
        else if (!reply.Ok && other.Snapshot is null)
        {
            ulong next = Math.Clamp(reply.Index + 1, other.Match + 1, Log.Entries.LastIndex + 1);
            if (next != other.Next) Touch();
            other.Next = next;
        }
        Count();
    }

    public override void OnSnapshotAck(in Replica from, SnapshotAck ack)
    {
        if (Find(from.Node) is not { } other) return;
        other.Answered(Log.Node.Now);
        if (other.Snapshot is not { } sent || sent.Index != ack.LastIndex) return;
        sent.Held(ack.Held, Log.Node.Now);
        Touch();
    }

    private void Touch()
    {
        _dirty = true;
        Log.Port.RequestTurn();
    }

    /// <summary>Updates the list of other replicas to the latest configuration.</summary>
    private void Follow()
    {
        var configuration = Log.Entries.Configuration;
        foreach (var other in _others)
        {
            if (configuration.Contains(other.Replica.Node)) other.RemovedUntil = 0;
            else if (other.RemovedUntil == 0) other.RemovedUntil = Log.Node.Now + QuorumTimeout;
        }
        foreach (var replica in configuration.Voters) Add(replica);
        foreach (var replica in configuration.Learners) Add(replica);
    }

    private void Add(in Replica replica)
    {
        if (replica.Node == Log.Node.Id || Find(replica.Node) is not null) return;
        _others.Add(new(replica, Log.Entries.LastIndex + 1, Log.Node.Now));
    }

    private Progress? Find(ulong node)
    {
        foreach (var other in _others)
            if (other.Replica.Node == node) return other;
        return null;
    }

    private bool HeardByMajority()
    {
        int heard = Log.IsVoter ? 1 : 0;
        foreach (var other in _others)
            if (Log.Entries.Configuration.IsVoter(other.Replica.Node) && Log.Node.Now - other.LastAck <= _patience) heard++;
        return heard >= Log.Quorum;
    }

    /// <summary>Counts acknowledgements: commits entries that a majority has, and confirms the read round that a majority answered.</summary>
    private void Count()
    {
        var matches = new List<ulong>();
        var reads = new List<ulong>();
        foreach (var voter in Log.Entries.Configuration.Voters)
        {
            bool self = voter.Node == Log.Node.Id;
            Progress? other = self ? null : Find(voter.Node);
            matches.Add(self ? Log.Entries.LastIndex : other?.Match ?? 0);
            reads.Add(self ? _read : other?.Read ?? 0);
        }
        if (matches.Count == 0) return;
        matches.Sort();
        reads.Sort();
        ulong match = matches[^Log.Quorum];
        bool countable = match > Log.Commit && (Log.Entries.TermAt(match) == Log.Term || !Log.Rules.RaftOldTermByCounting);
        bool confirms = reads[^Log.Quorum] > _confirmed;
        _confirmed = reads[^Log.Quorum];
        if (countable)
        {
            Touch();
            Log.CommitThrough(match);
        }
        else if (confirms && Ready)
        {
            Log.Port.OnProgress();
        }
    }

    private void Replicate(Progress other, bool heartbeat)
    {
        if (other.Snapshot is not null || other.Next <= Log.Entries.Base)
        {
            // The replica lacks the entry named here, unless it no longer needs a saved state. Its answer still counts as an answer to a heartbeat.
            if (heartbeat || other.SentRead != _read) Append(other, Log.Entries.LastIndex, []);
            SendParts(other, heartbeat);
            return;
        }
        var entries = new List<LogEntry>();
        int bytes = 0;
        for (ulong index = other.Next; index <= Log.Entries.LastIndex && entries.Count < AppendRequest.MaxEntries; index++)
        {
            if (index > other.Match + PipelineEntries) break;
            LogEntry entry = Log.Entries[index];
            bytes += entry.Content.Length;
            if (entries.Count > 0 && bytes > BatchBytes) break;
            entries.Add(entry);
        }
        if (entries.Count == 0 && !heartbeat && other.SentRead == _read && other.SentCommit == Log.Commit) return;
        Append(other, other.Next - 1, entries);
        other.Next += (ulong)entries.Count;
    }

    private void Append(Progress other, ulong previous, List<LogEntry> entries)
    {
        Log.Port.Send(other.Replica, new AppendRequest(Log.Term, previous, Log.Entries.TermAt(previous), entries, Log.Commit, _read));
        (other.SentRead, other.SentCommit) = (_read, Log.Commit);
    }

    // A link kept full by other traffic never shows room. So each heartbeat sends one part in any case, if the replica has taken all earlier ones.
    // A part that still waits in the link is not sent again, however slow the link is.
    private void SendParts(Progress other, bool heartbeat)
    {
        var parts = other.Snapshot ??= new(Log.Saved, Log.Node.Now);
        if (parts.IsOverdue(Log.Node.Now) && !Log.Port.Holds(other.Replica, parts.End)) parts.Rewind(Log.Node.Now);
        while (((heartbeat && parts.IsIdle) || Log.Port.HasRoom(other.Replica)) && parts.Next(Log.Term, Log.Node.Now) is { } part)
        {
            Log.Port.Send(other.Replica, part);
            parts.End = Log.Port.EndOf(other.Replica);
        }
    }

    private void TryTransfer()
    {
        if (!Transferring || Find(_transferTo) is not { } target || target.Match != Log.Entries.LastIndex) return;
        Log.Port.Send(target.Replica, new TimeoutNow(Log.Term));
    }
}
