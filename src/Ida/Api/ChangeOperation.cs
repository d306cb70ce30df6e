namespace Ida;

/// <summary>A put of one key whose caller asks only whether it changed the entry.</summary>
internal sealed class ChangeOperation(Dht dht, OperationPool<ChangeOperation> pool) : WriteOperation<bool>(dht)
{
    protected override bool MustTell => true;

    // A removed key that had no value has no version.
    protected override bool ResultOf(bool applied) => applied && Parts[0].Version != 0;

    protected override void Return() => pool.Return(this);
}
