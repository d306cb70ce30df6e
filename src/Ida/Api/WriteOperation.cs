using Ida.Coordination;
using Ida.Kinds;

namespace Ida;

/// <summary>An operation that changes entries. Turns what its shards told into a result or an error.</summary>
internal abstract class WriteOperation<TResult>(Dht dht) : ClientOperation<TResult>(dht.Layer)
{
    protected sealed override TResult Result()
    {
        if (WithoutResult && MustTell) throw new OutcomeForgottenException(Id, "The put was executed, and no member remembers what it told.");
        bool applied = true, elsewhere = false;
        int failed = -1;
        for (int i = 0; i < PartCount && !WithoutResult; i++)
        {
            if (i > 0 && Parts[i].Shard == Parts[i - 1].Shard) continue;
            var report = Parts[i].Report;
            applied &= report is not { Verdict: Verdict.NotMet };
            elsewhere |= PutReport.IsApplied(report);
            if (failed < 0 && report is { Verdict: Verdict.Failed }) failed = i;
        }
        if (failed < 0) return ResultOf(applied);
        var reason = Parts[failed].Report!;
        // A lying member may name a key that is not there.
        var (map, key) = dht.TextOf(KeyOf(Math.Min(failed + reason.Culprit, PartCount - 1)));
        string error = reason.Error ?? "";
        int shard = Parts[failed].Shard;
        throw elsewhere ? new PartlyAppliedException(Id, map, key, error) { Shard = shard } : new ResolverException(Id, map, key, error) { Shard = shard };
    }

    /// <summary>The result of a put in which no resolver failed.</summary>
    protected abstract TResult ResultOf(bool applied);

    /// <summary>The result of a put without keys.</summary>
    public virtual TResult Nothing => throw new InvalidOperationException("It has one key.");
}
