using Ida.Coordination;
using Ida.Kinds;

namespace Ida.Tests;

/// <summary>An operation of no DHT, for the lists in which operations wait.</summary>
internal sealed class IdleOperation() : ClientOperation(null!)
{
    public static IdleOperation Put(long charge = 0) => new() { Kind = OperationKind.Put, Charge = charge };

    public static IdleOperation Read(long charge = 0) => new() { Charge = charge };

    protected override void Deliver()
    {
        // Nobody waits for it.
    }

    protected override void Return()
    {
        // It serves once.
    }
}
