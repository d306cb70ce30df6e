using Ida.Coordination;

namespace Ida.Interleavings.Scenarios;

/// <summary>An operation that is asked for a number, and has it as its result.</summary>
internal sealed class NumberOp(DhtLayer layer, OpPool<NumberOp> pool) : ClientOp<ulong>(layer)
{
    protected override ulong Result() => Parts[0].Version;

    protected override void Return() => pool.Return(this);
}
