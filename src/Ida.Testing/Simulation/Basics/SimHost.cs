using GroupCore.Platform;

namespace Ida.Testing;

/// <summary>A machine at an address: what stays when its node crashes and restarts.</summary>
internal sealed class SimHost(int index, string name, string address)
{
    public int Index { get; } = index;
    public string Name { get; } = name;
    public string Address { get; } = address;

    /// <summary>Whether dials are refused, rather than unanswered, while nobody listens.</summary>
    public bool Answers { get; set; } = true;

    /// <summary>Whether something in front of it, such as a proxy, refuses dials although a node listens.</summary>
    public bool Refuses { get; set; }

    /// <summary>The latest life.</summary>
    public ISimNode? Node { get; set; }
    public int Lives { get; set; }

    /// <summary>The far ends of connections that nobody here knows any more, and that have sent something since.</summary>
    public List<IChannelEnd> Orphans { get; } = [];

    /// <summary>
    /// How long the kernel at one end of a connection asks in vain whether the other end is there, in nanoseconds. Now and then that is up to twice as long as usual, as when
    /// something was sent just before its last question. Nothing else depends on what is drawn.
    /// </summary>
    public static long UntilUnanswered(ISimNode asking, int connection)
    {
        var choices = new Choices(Choices.Seed(asking.ScheduleSeed, Choices.Hash("unanswered") ^ (ulong)connection, (ulong)asking.Simulation.Time));
        long least = SimTime.Nanoseconds(KeepAlive.Shortest), longest = SimTime.Nanoseconds(KeepAlive.Longest);
        return choices.Chance(0.125) ? longest + choices.UpTo(longest) : least + choices.UpTo(longest - least);
    }
}
