using GroupCore.Membership;
using GroupCore.Transport;

namespace Oracle.State;

/// <summary>A registered process. The record of an excluded process stays until no view names it.</summary>
internal sealed class ProcessRecord(ProcessId id, NodeAddress address, string tag, string host, int number, long start, long lease, bool ownsAddress)
{
    public ProcessId Id { get; } = id;

    public NodeAddress Address { get; } = address;

    public string Tag { get; } = tag;

    /// <summary>Host, process number and start: from these a process on the same host can tell whether this one is gone.</summary>
    public string Host { get; } = host;

    public int Number { get; } = number;

    public long Start { get; } = start;

    /// <summary>How long it may act after it asked for a lease, in ns on its clock.</summary>
    public long Lease { get; } = lease;

    /// <summary>Whether it listens at its address itself: only then does a refusal there say that it is gone.</summary>
    public bool OwnsAddress { get; } = ownsAddress;

    public ProcessStatus Status { get; set; }

    /// <summary>Whether its death is proved: it cannot act any more, so nothing waits for its lease.</summary>
    public bool Proved { get; set; }

    /// <summary>Groups that have it as a member, in their queue, or in their pending proposal.</summary>
    public SortedSet<GroupId> Groups { get; } = [];

    /// <summary>Whether two processes share a group. Walks the groups of the process that is in fewer: the other may be in thousands.</summary>
    public bool Shares(ProcessRecord other) => Groups.Count < other.Groups.Count ? other.Groups.Overlaps(Groups) : Groups.Overlaps(other.Groups);

    /// <summary>Results of its latest requests by number, for repeats.</summary>
    public SortedList<ulong, OperationResult> Results { get; } = [];

    /// <summary>Requests below this number were answered and are not repeated.</summary>
    public ulong Floor { get; set; }

    public bool Alive => Status != ProcessStatus.Excluded;
}
