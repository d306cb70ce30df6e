using Ida.Coordination;

namespace Ida.Interleavings.Scenarios;

/// <summary>An operation that is given a number, and has it as its result.</summary>
internal sealed class NumberOperation(DhtLayer layer, OperationPool<NumberOperation> pool) : ClientOperation<ulong>(layer)
{
    protected override ulong Result() => Parts[0].Version;

    protected override void Return() => pool.Return(this);
}
