using Ida.Coordination;

namespace Ida;

/// <summary>A put of one or more keys.</summary>
internal sealed class PutOp(DhtLayer layer, OpPool<PutOp> pool) : ClientOp<PutResult>(layer)
{
    protected override PutResult Result()
    {
        if (WithoutResult || PartCount == 0) return new(Id, [], []);
        if (PartCount == 1 && Parts[0].Error is null) return new(Id, [Parts[0].Version], []);
        var versions = new ulong[PartCount];
        List<PutError>? errors = null;
        for (int i = 0; i < PartCount; i++)
        {
            versions[Parts[i].Index] = Parts[i].Version;
            if (Parts[i].Error is { } error) (errors ??= []).Add(new(Parts[i].Index, error));
        }
        errors?.Sort(static (a, b) => a.Index.CompareTo(b.Index));
        return new(Id, versions, errors is null ? [] : errors);
    }

    protected override void Return() => pool.Return(this);
}
