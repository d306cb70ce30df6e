using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Wire.MessagePack;

namespace Oracle;

/// <summary>Options with which the membership service of a process starts. Times: oracle.md#costs, failure-detection.md#costs.</summary>
public sealed record OracleOptions
{
    // Longer than any other wait; sums and multiples of it are still times of the node's clock.
    private static readonly TimeSpan s_longest = TimeSpan.FromDays(365);

    // A leader that no majority has answered for 1 s steps down: three heartbeats have to fit into that time.
    private static readonly TimeSpan s_longestHeartbeat = TimeSpan.FromMilliseconds(300);

    // A shorter timer is always due.
    private static readonly TimeSpan s_shortestHeartbeat = TimeSpan.FromMilliseconds(1);

    private static readonly TimeSpan s_longestRound = TimeSpan.FromMinutes(10);

    /// <summary>
    /// Where the first processes listen: <c>host:port</c>, where a name stands for all its addresses, and is looked up again and again. A process whose own address is not among them never founds a system. With an empty list it founds one at once; with a list of only its
    /// own address, after a second in which it hears of none. Default empty.
    /// </summary>
    public IReadOnlyList<NodeAddress> Seeds { get; init; } = [];

    /// <summary>Tag of this process in groups that are created with a member list (host, zone, role). At most 64 bytes of UTF-8.</summary>
    public string Tag { get; init; } = "";

    /// <summary>Names the host and its process table, equal for processes that see the same process numbers; empty when unknown.</summary>
    public string Host { get; init; } = "";

    /// <summary>Process number of this process on its host; 0 when unknown.</summary>
    public int ProcessNumber { get; init; }

    /// <summary>When this process started, in a unit that <see cref="ProcessProbe"/> understands.</summary>
    public long ProcessStart { get; init; }

    /// <summary>Tells whether processes of the same host still exist; null when that cannot be known.</summary>
    public IProcessProbe? ProcessProbe { get; init; }

    /// <summary>Whether this process itself listens at the address that it names to others. Behind a proxy it does not; a refusal there then says nothing about it.</summary>
    internal bool OwnsAddress { get; init; } = true;

    /// <summary>Number of voters of the Oracle once there are that many processes: 3 (default) or 5.</summary>
    public int OracleSize { get; init; } = 3;

    /// <summary>How long a process may be without contact with the Oracle before it is blocked. Default 3 s, at most 365 days.</summary>
    public TimeSpan IsolationTimeout { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>How long a process may be blocked before it gives up its membership. Default 60 s, at most 365 days.</summary>
    public TimeSpan ExclusionTimeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// How long an excluded process that is not proved dead may still act after its last lease was granted; a StrictPrimary view that excludes it waits for that. A lease is renewed
    /// every quarter of this time, or every 500 ms if that is less, and not more often than every 100 ms. A process announces its value when it registers, so others may use
    /// another. Default 1 s, at most <see cref="IsolationTimeout"/> and 10 min; a process that registers with more is refused.
    /// </summary>
    public TimeSpan LeaseDuration { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Shortest time without a leader after which a voter asks to be elected; the longest is twice that. Default 300 ms, at least three times <see cref="Heartbeat"/>, at
    /// most 10 min and a third of <see cref="IsolationTimeout"/> and <see cref="ExclusionTimeout"/> together, after which processes that hear no leader give up.
    /// </summary>
    public TimeSpan ElectionTimeout { get; init; } = TimeSpan.FromMilliseconds(300);

    /// <summary>How often the leader sends a sign of life. Default 60 ms, 1 ms to 300 ms.</summary>
    public TimeSpan Heartbeat { get; init; } = TimeSpan.FromMilliseconds(60);

    /// <summary>
    /// How often a process probes another that it watches. Default 200 ms, 100 ms to 10 min; probes are due only every 100 ms, so values in
    /// between are rounded up.
    /// </summary>
    public TimeSpan ProbeInterval { get; init; } = TimeSpan.FromMilliseconds(200);

    /// <summary>
    /// Number of such rounds in a row without any sign of a process after which it is suspected. A process that is held up for less than <see cref="ProbeInterval"/> × this
    /// number is not excluded for that. Default 4, that is 800 ms.
    /// </summary>
    public int ProbeRounds { get; init; } = 4;

    /// <summary>
    /// How long the caller waits for the start; <see cref="Timeout.InfiniteTimeSpan"/> for ever. Bounds the wait for seeds that are up but do not found a system.
    /// </summary>
    internal TimeSpan StartTimeout { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>
    /// In groups that this process creates: of this many first initialised members, the last one left is not excluded without proof of death
    /// (oracle.md#a5-the-last-acceptor-goes-only-with-proof). Needed for uniform delivery only; default 0, the rule is off. The Oracle's leader refuses requests with another
    /// number than its own.
    /// </summary>
    internal int Acceptors { get; init; }

    /// <summary>Whether a refused dial is the word of the host that was dialled: so on the loopback, and not on a network on which somebody may answer in another's name.</summary>
    internal bool RefusalsProve { get; init; } = true;

    /// <summary>Name of the cluster, by which its processes know each other's datagrams on the local network.</summary>
    internal string Cluster { get; init; } = "";

    /// <summary>The way to all processes on the local network; null: the seed <see cref="SeedText.Lan"/> stands for this process only.</summary>
    internal ILocalNetwork? LocalNetwork { get; init; }

    /// <summary>Looks up the names among the seeds; null: names stand for no address.</summary>
    internal INameService? Names { get; init; }

    /// <summary>Which identity may join which group; null: any may. Asked when this process leads the Oracle.</summary>
    internal Func<NodeIdentity, string, bool>? CanJoin { get; init; }

    /// <summary>Number of log entries after which the state is saved and the log cut. Default 4,096; 8 MB of entries have the same effect.</summary>
    internal int SnapshotEntries { get; init; } = 4_096;

    /// <summary>Entries kept behind the saved state for slow learners.</summary>
    internal int SnapshotKeep { get; init; } = 512;

    /// <summary>
    /// A voter whose host schedules late waits this many times <see cref="ElectionTimeout"/>: four, or fewer, so that three such waits fit into the time after
    /// which processes that hear no leader give up.
    /// </summary>
    internal int LateFactor => (int)Math.Clamp((IsolationTimeout + ExclusionTimeout) / (3 * ElectionTimeout), 1, 4);

    /// <summary>Throws <see cref="InvalidOptionException"/> naming the option that is out of range, and the range.</summary>
    public void Validate()
    {
        if (Seeds is null || Tag is null || Host is null) throw new InvalidOptionException($"{(Seeds is null ? "Seeds" : Tag is null ? "Tag" : "Host")} is null; it may be left out instead.");
        if (OracleSize is not (3 or 5)) throw new InvalidOptionException($"OracleSize is {OracleSize}; allowed are 3 and 5.");
        if (LeaseDuration < TimeSpan.FromMilliseconds(200) || LeaseDuration > IsolationTimeout || LeaseDuration.Nanoseconds() > Limits.LeaseLength)
            throw new InvalidOptionException($"LeaseDuration is {LeaseDuration}; allowed is 200 ms to IsolationTimeout ({IsolationTimeout}), and at most 10 min.");
        if (IsolationTimeout > s_longest) throw new InvalidOptionException($"IsolationTimeout is {IsolationTimeout}; allowed is at most {s_longest}.");
        if (ExclusionTimeout <= TimeSpan.Zero || ExclusionTimeout > s_longest) throw new InvalidOptionException($"ExclusionTimeout is {ExclusionTimeout}; it must be above 0 and at most {s_longest}.");
        if (Heartbeat < s_shortestHeartbeat || Heartbeat > s_longestHeartbeat)
            throw new InvalidOptionException($"Heartbeat is {Heartbeat}; allowed is {s_shortestHeartbeat.TotalMilliseconds} ms to {s_longestHeartbeat.TotalMilliseconds} ms.");
        if (ElectionTimeout > s_longestRound) throw new InvalidOptionException($"ElectionTimeout is {ElectionTimeout}; allowed is at most {s_longestRound}.");
        if (ElectionTimeout < 3 * Heartbeat) throw new InvalidOptionException($"ElectionTimeout is {ElectionTimeout}; it must be at least three times Heartbeat ({Heartbeat}).");
        // The first voter asks for votes within twice that time, and may have to ask again.
        if (3 * ElectionTimeout > IsolationTimeout + ExclusionTimeout)
            throw new InvalidOptionException($"ElectionTimeout is {ElectionTimeout}; it must be at most a third of IsolationTimeout and ExclusionTimeout together ({IsolationTimeout + ExclusionTimeout}).");
        if (ProbeInterval < TimeSpan.FromMilliseconds(100) || ProbeInterval > s_longestRound)
            throw new InvalidOptionException($"ProbeInterval is {ProbeInterval}; allowed is 100 ms to {s_longestRound}.");
        if (ProbeRounds is < 2 or > 1_000) throw new InvalidOptionException($"ProbeRounds is {ProbeRounds}; allowed are 2 to 1,000.");
        foreach (var seed in Seeds)
            if (!SeedText.IsSeed(seed.Text)) throw new InvalidOptionException($"Seeds names '{seed}'; {SeedText.Allowed}.");
        if (!Utf8Text.IsKept(Tag) || !Utf8Text.IsKept(Host)) throw new InvalidOptionException($"{(Utf8Text.IsKept(Tag) ? "Host" : "Tag")} contains an unpaired surrogate: others would read another text.");
        int tag = System.Text.Encoding.UTF8.GetByteCount(Tag);
        if (tag > Limits.TagBytes) throw new InvalidOptionException($"Tag has {tag} bytes of UTF-8; at most {Limits.TagBytes} are allowed.");
        if (System.Text.Encoding.UTF8.GetByteCount(Host) > Limits.NameBytes)
            throw new InvalidOptionException($"Host has more than {Limits.NameBytes} bytes of UTF-8.");
    }
}
