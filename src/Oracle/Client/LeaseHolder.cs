using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.Frames;

namespace Oracle.Client;

/// <summary>
/// The process's side of membership leases: until when it may act for its groups, and whether it has contact with the primary partition.
/// </summary>
/// <remarks>
/// A lease lasts 98 % of the lease duration from the moment the question was sent, on this process's clock (the other 2 % are for clocks that drift by 1 % each way).
/// A jump of the clock puts the process in doubt (failure-detection.md#a-jump-of-the-clock-proves-nothing): it holds no lease until a question that it sends
/// afterwards is answered. Each use compares the lease with the time of that use, so nothing has to fire for a lease to end.
/// The time of a jump does not count as silence of the others. But a loop that stalls again and again, on a badly overloaded host, spends nearly all its time in jumps. Once
/// such jumps add up, without an answer, to the time after which a process gives up, further ones count as silence.
/// </remarks>
internal sealed class LeaseHolder(INode node, OracleOptions options)
{
    private readonly long _length = options.LeaseDuration.Nanoseconds() / 100 * 98;
    // The answer also says which processes to watch: a newcomer should not wait for that as long as a lease may last.
    private readonly long _every = Math.Min(options.LeaseDuration.Nanoseconds() / 4, Durations.Second / 2);
    private long _until;
    private readonly long _patience = options.IsolationTimeout.Nanoseconds() + options.ExclusionTimeout.Nanoseconds();
    private long _credited;
    private long _notBefore = long.MinValue;
    private long _sent = long.MinValue / 2;
    private bool _waiting;

    /// <summary>When the last answered question was sent.</summary>
    public long Contact { get; private set; }

    /// <summary>Whether the clock jumped and no question sent since has been answered yet.</summary>
    public bool InDoubt { get; private set; }

    public long Until => InDoubt ? 0 : _until;

    /// <summary>Version of the process table from which this process knows what to watch.</summary>
    public ulong Version { get; set; }

    public void Begin() => Contact = node.Now;

    /// <summary>A question if one is due; it is repeated sooner while no answer comes.</summary>
    public LeaseAsk? Ask(ProcessId self, out bool unanswered)
    {
        unanswered = _waiting;
        if (node.Now - _sent < (_waiting ? _every / 2 : _every)) return null;
        return AskNow(self);
    }

    public LeaseAsk AskNow(ProcessId self)
    {
        _sent = node.Now;
        _waiting = true;
        return new(self, node.Now, Version);
    }

    /// <summary>Takes a lease; false for an answer to a question from before a jump of the clock, or to one that was never asked.</summary>
    public bool Take(LeaseGrant grant)
    {
        if (grant.Sent > node.Now || grant.Sent < _notBefore) return false;
        _waiting = false;
        InDoubt = false;
        _credited = 0;
        _until = Math.Max(_until, grant.Sent + _length);
        Contact = Math.Max(Contact, grant.Sent);
        return true;
    }

    /// <summary>The clock jumped by this many nanoseconds.</summary>
    public void Doubt(long jump)
    {
        InDoubt = true;
        _until = 0;
        _notBefore = node.Now;
        _sent = long.MinValue / 2;
        if (_credited >= _patience) return;
        // The others could not be asked during the jump, so it is no silence of theirs. Their silence before it counts.
        Contact = Math.Min(node.Now, Contact + jump);
        _credited += jump;
    }

    public void End()
    {
        _until = 0;
        InDoubt = true;
        _notBefore = long.MaxValue;
    }
}
