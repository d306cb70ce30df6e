using Ida.Coordination;

namespace Ida;

/// <summary>A put of one or more keys.</summary>
internal sealed class PutOperation(DhtLayer layer, OperationPool<PutOperation> pool) : ClientOperation<PutResult>(layer)
{
    protected override PutResult Result()
    {
        if (WithoutResult || PartCount == 0) return new(Id, default, []);
        Span<ulong> versions = PartCount <= PutVersions.Inline ? stackalloc ulong[PutVersions.Inline] : new ulong[PartCount];
        versions = versions[..PartCount];
        List<PutError>? errors = null;
        for (int i = 0; i < PartCount; i++)
        {
            versions[Parts[i].Index] = Parts[i].Version;
            if (Parts[i].Error is { } error) (errors ??= []).Add(new(Parts[i].Index, error));
        }
        errors?.Sort(static (a, b) => a.Index.CompareTo(b.Index));
        return new(Id, new(versions), (IReadOnlyList<PutError>?)errors ?? []);
    }

    protected override void Return() => pool.Return(this);
}
