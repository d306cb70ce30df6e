using Ida.Testing;
using Oracle;

namespace Ida.Scenarios;

/// <summary>A process table of the simulated hosts, as if all were one: what it says can be true, false, or an exception.</summary>
internal sealed class SimProbe(Func<int, SimNode?> find) : IProcessProbe
{
    public enum Mood
    {
        Truthful,

        /// <summary>Every process is gone.</summary>
        SaysGone,

        /// <summary>Every process exists, as when all nodes live in one process of the system.</summary>
        SaysAlive,

        /// <summary>It fails, as without file descriptors.</summary>
        Fails,
    }

    public Mood Now { get; set; }

    public int Asked { get; private set; }

    public bool IsGone(int processNumber, long start)
    {
        Asked++;
        return Now switch
        {
            Mood.SaysGone => true,
            Mood.SaysAlive => false,
            Mood.Fails => throw new IOException("Too many open files."),
            _ => find(processNumber) is not { Alive: true },
        };
    }

    /// <summary>What a node says of its process: its number is that of its life.</summary>
    public OracleOptions Shape(SimNode node, OracleOptions options) =>
        options with { Host = "host", ProcessNumber = NumberOf(node), ProcessStart = 1, ProcessProbe = this };

    public static int NumberOf(SimNode node) => (int)(node.Id & 0x3FFFFFFF) + 1;
}
