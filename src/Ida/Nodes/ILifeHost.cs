using GroupCore.Runtime;
using Oracle;

namespace Ida.Nodes;

/// <summary>Begins and ends the lives of a node: on a loop with sockets, or in the simulator.</summary>
internal interface ILifeHost
{
    /// <summary>Begins a life; <paramref name="attach"/> puts the protocols on its node before the first turn.</summary>
    INode Begin(Action<INode> attach);

    /// <summary>The options that membership starts with under this host: with seeds, and with what identifies the process.</summary>
    OracleOptions MembershipOptions(IdaNodeOptions options);

    /// <summary>Ends the running life, after everything queued on its links was sent or a bounded time has passed.</summary>
    ValueTask EndAsync();

    /// <summary>Whether the meters read its lives, and calls are traced: those of a process, not those of a simulation.</summary>
    bool IsMeasured => false;

    /// <summary>What went wrong in the life that has ended, also while it was being stopped; null where nothing did, or the host throws it itself.</summary>
    NodeFaultedException? Fault => null;

    /// <summary>Waits for a call of user code in the time of this host.</summary>
    /// <exception cref="TimeoutException">It took longer than <paramref name="limit"/>.</exception>
    Task WithinAsync(Task call, TimeSpan limit) => call.WaitAsync(limit);
}
