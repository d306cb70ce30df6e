using GroupCore.Runtime;
using Oracle;

namespace Ida.Nodes;

/// <summary>Begins and ends the lives of a node: on a loop with sockets, or in the simulator.</summary>
internal interface ILifeHost
{
    /// <summary>Finds out what has to be known before the first life begins, and returns how long that took. Throws what <see cref="IdaNode.StartAsync"/> documents.</summary>
    ValueTask<TimeSpan> PrepareAsync(CancellationToken cancellationToken) => ValueTask.FromResult(TimeSpan.Zero);

    /// <summary>Begins a life; <paramref name="attach"/> puts the protocols on its node before the first turn.</summary>
    INode Begin(Action<INode> attach);

    /// <summary>The options that membership starts with under this host: with seeds, and with what identifies the process.</summary>
    OracleOptions MembershipOptions(IdaNodeOptions options);

    /// <summary>Ends the running life, after everything queued on its links was sent or a bounded time has passed.</summary>
    ValueTask EndAsync();

    /// <summary>Whether meters read its lives and calls are traced: so in a process, but not in a simulation.</summary>
    bool IsMeasured => false;

    /// <summary>What went wrong in the life that has ended, or while it was being stopped; null if nothing did, or if the host itself throws it.</summary>
    NodeFaultedException? Fault => null;

    /// <summary>Waits for a call of user code, by the clock of this host.</summary>
    /// <exception cref="TimeoutException">It took longer than <paramref name="limit"/>.</exception>
    Task WithinAsync(Task call, TimeSpan limit) => call.WaitAsync(limit);
}
