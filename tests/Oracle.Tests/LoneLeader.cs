using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>A replica that leads alone, with the given number of registered processes, of which it is the first.</summary>
internal sealed class LoneLeader
{
    public LoneLeader(int processes, OracleOptions? options = null)
    {
        Part = Bus.Add(1);
        Replica = new(Part, options ?? new(), new(Part), () => { }, () => { });
        Replica.Log.Found(LogBus.ReplicaOf(1));
        for (ulong node = 1; node <= (ulong)processes; node++)
            Replica.Services.OnRequest(0, LogBus.ReplicaOf(node), new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second)));
        // Until the configuration needs no further step.
        for (int turn = 0; turn < 10; turn++) Turn();
    }

    public LogBus Bus { get; } = new();

    public LogBus.Part Part { get; }

    public OracleReplica Replica { get; }

    public ProcessId IdOf(ulong node) => Replica.State.FindNode(node)!.Id;

    public void Turn()
    {
        Replica.Services.EndOfTurn();
        Replica.Log.EndOfTurn();
    }
}
