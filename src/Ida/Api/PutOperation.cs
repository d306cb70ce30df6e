namespace Ida;

/// <summary>A put of one or more keys, of any maps.</summary>
internal sealed class PutOperation(Dht dht, OperationPool<PutOperation> pool) : WriteOperation<PutResult>(dht)
{
    public override PutResult Nothing => new(default, true, default);

    protected override PutResult ResultOf(bool applied)
    {
        if (WithoutResult || PartCount == 0) return new(Id, applied, default);
        Span<ulong> versions = PartCount <= PutVersions.Inline ? stackalloc ulong[PutVersions.Inline] : new ulong[PartCount];
        versions = versions[..PartCount];
        for (int i = 0; i < PartCount; i++) versions[Parts[i].Index] = Parts[i].Version;
        return new(Id, applied, new(versions));
    }

    protected override void Return() => pool.Return(this);
}
