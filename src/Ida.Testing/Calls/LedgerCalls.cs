using GroupCore.Runtime;

namespace Ida.Testing.Calls;

/// <summary>Calls that several harnesses make, each kept by a ledger.</summary>
internal static class LedgerCalls
{
    /// <summary>A ledger for a simulation, which fails as soon as a call has ended as it must not. A call that is late is found when somebody looks, and at the end.</summary>
    public static CallLedger KeepCalls(this Simulation simulation, TimeSpan? longest)
    {
        var ledger = new CallLedger(() => simulation.Now, longest);
        simulation.AddInvariant("calls", () => ledger.Wrong);
        return ledger;
    }

    /// <summary>Starts a node and waits until the cluster has registered it.</summary>
    public static Task<SimMember> StartAsync(this SimCluster cluster, CallLedger calls, IdaNodeOptions? options = null, string? without = null, Func<INode, INode>? tap = null, CancellationToken token = default)
    {
        // The member's life is there as soon as its start has begun.
        var start = cluster.StartAsync(options, without, tap, token).AsTask();
        var member = cluster.Members[^1];
        return calls.Begin(CallKind.Start, member.ToString(), () => start, member.Host, token: token);
    }

    /// <summary>Starts again the program of a member that has ended.</summary>
    public static Task RestartAsync(this SimMember member, CallLedger calls, IdaNodeOptions options, CancellationToken token = default)
    {
        var start = SimCluster.RestartAsync(member, options, token);
        return calls.Begin(CallKind.Start, member.ToString(), () => start, member.Host, token: token);
    }
}
