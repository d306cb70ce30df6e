using GroupCore.Membership;
using Oracle.Frames;

namespace Oracle.Detection;

/// <summary>What this process knows of one that it watches, or that its groups accuse.</summary>
internal sealed class WatchedProcess(Subject subject, long now)
{
    public Subject Subject { get; set; } = subject;

    /// <summary>Whether the Oracle assigned it; else only a group's accusation keeps it here.</summary>
    public bool Assigned { get; set; }

    /// <summary>The link that was probed last; -1 before.</summary>
    public int Peer { get; set; } = -1;

    public long HeardAt { get; set; } = now;

    public long RoundAt { get; set; }

    public long NextRound { get; set; } = now;

    /// <summary>Whether other processes were asked in this round.</summary>
    public bool Indirect { get; set; }

    public int FailedRounds { get; set; }

    /// <summary>What the own probes and links say.</summary>
    public Accusation? Observed { get; set; }

    /// <summary>What a group of this process says.</summary>
    public Accusation? Accused { get; set; }

    public long ReportedAt { get; set; } = long.MinValue / 2;

    public bool Reported { get; set; }

    /// <summary>When others were asked last.</summary>
    public long AskedAt { get; set; } = long.MinValue / 2;

    /// <summary>Remaining looks at the process table after a link broke, and when the next is due.</summary>
    public int Looks { get; set; }

    public long LookAt { get; set; } = long.MaxValue;

    /// <summary>When its process was first seen to be gone; 0 while it was not.</summary>
    public long GoneAt { get; set; }

    /// <summary>What is reported. Who is not assigned to watch a process is not believed in what it saw itself.</summary>
    public Accusation? Evidence => (Assigned ? Observed : null) ?? Accused;
}
