using System.Diagnostics;
using GroupCore.Diagnostics;
using Ida.Coordination;

namespace Ida;

/// <summary>Operations of callers as activities of the source <c>Ida</c>, if anybody listens.</summary>
internal static class DhtTraces
{
    // Not made in a type initializer: a listener that throws there would break all operations for ever, and one that blocks would hold them up.
    private static ActivitySource? s_source;

    /// <summary>Whether anybody listens.</summary>
    public static bool IsOn => s_source is { } source && source.HasListeners();

    /// <summary>Makes the source, once for the process. Runs user code, which may block.</summary>
    public static void Publish() => s_source ??= Traced.Source("Ida");

    /// <summary>Submits an operation whose parts are complete.</summary>
    /// <param name="op">The operation.</param>
    /// <param name="operation">What it is called.</param>
    /// <param name="map">The name of its map; null for several.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public static ValueTask<TResult> Submit<TResult>(ClientOperation<TResult> op, string operation, string? map, CancellationToken cancellationToken) =>
        IsOn ? SubmitAsync(op, operation, map, cancellationToken) : op.Submit(cancellationToken);

    /// <summary>Begins an activity for an operation that is made of several.</summary>
    public static Activity? Start(string operation, string map) => Traced.Start(s_source, operation, ActivityKind.Client)?.SetTag("ida.map", map);

    // The activity is the current one only within this method, not for its caller.
    private static async ValueTask<TResult> SubmitAsync<TResult>(ClientOperation<TResult> op, string operation, string? map, CancellationToken cancellationToken)
    {
        var activity = Traced.Start(s_source, operation, ActivityKind.Client);
        if (activity is { IsAllDataRequested: true })
        {
            activity.SetTag("ida.group", op.Layer.GroupName).SetTag("ida.map", map).SetTag("ida.keys", op.PartCount).SetTag("ida.shards", ShardsOf(op));
        }
        return await Traced.EndAsync(activity, op.Submit(cancellationToken)).ConfigureAwait(false);
    }

    private static int ShardsOf(ClientOperation op)
    {
        var shards = new SortedSet<int>();
        for (int i = 0; i < op.PartCount; i++) shards.Add(op.Parts[i].Shard);
        return shards.Count;
    }
}
