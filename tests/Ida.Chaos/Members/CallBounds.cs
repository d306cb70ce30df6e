namespace Ida.Chaos.Members;

/// <summary>
/// How long calls of a member may take, by what the guide says of each; where it names no time, as for a join that comes forward or a send that waits for others' handlers, as long as no
/// run that is right needs. What bounds a call that has to outlast a fault is beyond the longest one.
/// </summary>
internal sealed record CallBounds(TimeSpan LongestFault)
{
    /// <summary>How much later than that a call of a real process on a busy machine may end.</summary>
    public static readonly TimeSpan Slack = TimeSpan.FromSeconds(5);

    /// <summary>Of a query, which names it.</summary>
    public static readonly TimeSpan Query = TimeSpan.FromSeconds(10);

    /// <summary>A member's own word on its DHT waits for nobody.</summary>
    public static readonly TimeSpan Status = TimeSpan.FromSeconds(5);

    /// <summary>The hand-over of 10 s, and a few seconds beyond.</summary>
    public static readonly TimeSpan Stop = TimeSpan.FromSeconds(20);

    /// <summary>
    /// <c>StartTimeout</c>, and <c>JoinTimeout</c>, for which a join makes no progress: a member that is cut off takes itself for excluded after a minute and begins its next life, in which
    /// it may find nobody until the cut heals.
    /// </summary>
    public TimeSpan Start => TimeSpan.FromSeconds(30) + LongestFault;

    public TimeSpan JoinWithoutProgress => TimeSpan.FromSeconds(60) + LongestFault;

    public TimeSpan Join => TimeSpan.FromMinutes(5) + LongestFault;

    public TimeSpan Enable => TimeSpan.FromMinutes(10) + LongestFault;

    /// <summary>Of sends, flushes and leaves, which wait for handlers of seconds.</summary>
    public TimeSpan Send => TimeSpan.FromMinutes(3) + LongestFault;
}
