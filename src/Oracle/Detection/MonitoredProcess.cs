using GroupCore.Membership;
using Oracle.Frames;

namespace Oracle.Detection;

/// <summary>What is known of a process that this process watches, or that its groups suspect.</summary>
internal sealed class MonitoredProcess(Subject subject, long now)
{
    public Subject Subject { get; set; } = subject;

    /// <summary>Whether the Oracle assigned it; otherwise only a group's suspicion keeps it here.</summary>
    public bool Assigned { get; set; }

    /// <summary>The link that was probed last, and is held; -1 before, and once the process is watched no longer.</summary>
    public int Peer { get; set; } = -1;

    public long HeardAt { get; set; } = now;

    public long RoundAt { get; set; }

    public long NextRound { get; set; } = now;

    /// <summary>Whether other processes were asked in this round.</summary>
    public bool Indirect { get; set; }

    public int FailedRounds { get; set; }

    /// <summary>Evidence from this process's probes and links.</summary>
    public Suspicion? Observed { get; set; }

    /// <summary>Evidence from a group of this process.</summary>
    public Suspicion? Suspected { get; set; }

    public long ToldAt { get; set; } = long.MinValue / 2;

    public bool Told { get; set; }

    /// <summary>When others were last asked.</summary>
    public long AskedAt { get; set; } = long.MinValue / 2;

    /// <summary>Number of looks at the process table since a link broke, and when the next one is due.</summary>
    public int Looks { get; set; }

    public long LookAt { get; set; } = long.MaxValue;

    /// <summary>When the process was first seen to be gone; 0 if it was not.</summary>
    public long GoneAt { get; set; }

    /// <summary>The evidence that the leader is told. From a process that is not assigned to watch this one, the leader would not believe observations.</summary>
    public Suspicion? Evidence => (Assigned ? Observed : null) ?? Suspected;
}
