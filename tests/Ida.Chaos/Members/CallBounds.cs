namespace Ida.Chaos.Members;

/// <summary>
/// How long calls of a member may take, by what the guide says of each. Where the guide names no time, as for a join that makes progress or a send that waits for others' handlers, the bound is
/// longer than any correct run needs. The bound of a call that has to outlast a fault includes the longest fault.
/// </summary>
internal sealed record CallBounds(TimeSpan LongestFault)
{
    /// <summary>How long after its bound a call of a real process on a busy machine may end.</summary>
    public static readonly TimeSpan Slack = TimeSpan.FromSeconds(5);

    /// <summary>The time that each query is given.</summary>
    public static readonly TimeSpan Query = TimeSpan.FromSeconds(10);

    /// <summary>A member's own word on its DHT or node waits for no other member.</summary>
    public static readonly TimeSpan Status = TimeSpan.FromSeconds(5);

    /// <summary>The 10 s of the hand-over, and a few seconds more.</summary>
    public static readonly TimeSpan Stop = TimeSpan.FromSeconds(20);

    /// <summary>
    /// The <c>StartTimeout</c>. The next one is the <c>JoinTimeout</c>: how long a join may make no progress. A member that is cut off takes itself for excluded after a minute and begins
    /// its next life, in which it may find nobody until the cut heals.
    /// </summary>
    public TimeSpan Start => TimeSpan.FromSeconds(30) + LongestFault;

    public TimeSpan JoinWithoutProgress => TimeSpan.FromSeconds(60) + LongestFault;

    public TimeSpan Join => TimeSpan.FromMinutes(5) + LongestFault;

    public TimeSpan Enable => TimeSpan.FromMinutes(10) + LongestFault;

    /// <summary>The bound of sends, flushes and leaves: they wait for handlers that take seconds.</summary>
    public TimeSpan Send => TimeSpan.FromMinutes(3) + LongestFault;
}
