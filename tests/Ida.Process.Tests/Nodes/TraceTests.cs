using System.Collections.Concurrent;
using System.Diagnostics;

namespace Ida.Process.Tests.Nodes;

/// <summary>Calls as activities, for those that listen to them.</summary>
public sealed class TraceTests
{
    [Fact]
    public async Task Operations_sends_and_queries_are_activities_with_what_became_of_them()
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var node = await IdaNode.StartAsync(new() { Cluster = "traces" }, cancellation);
        var group = await node.JoinAsync("traced", static g => g.Handle<string>("say", static (_, _) => { }).OnQuery<string, string>("ask", static (_, text) => text), cancellationToken: cancellation);
        var dht = await group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 1 }, static maps => maps.Map<string, int>("traced map"), cancellation);
        var map = dht.Map<string, int>("traced map");
        var ended = new ConcurrentQueue<Activity>();
        using (var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name is "Ida" or "Ida.GroupCore",
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStopped = activity =>
            {
                // Tests beside this one have nodes too; no other test has a group or a map of these names.
                if (activity.GetTagItem("ida.group") is "traced" || activity.GetTagItem("ida.map") is "traced map") ended.Enqueue(activity);
            },
        })
        {
            ActivitySource.AddActivityListener(listener);
            await map.PutAsync("key", 1, cancellationToken: cancellation);
            Assert.Null(Activity.Current);
            Assert.Equal(1, (await map.GetAsync("key", cancellationToken: cancellation)).Value);
            Assert.Equal(2, await map.UpdateAsync("key", static entry => entry.Value + 1, cancellationToken: cancellation));
            await dht.NewBatch().Put(map, "a", 1).Remove(map, "key").CommitAsync(cancellation);
            await Assert.ThrowsAsync<NoResolverException>(async () => await map.MergeAsync("key", "text", cancellationToken: cancellation));
            await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await map.GetAsync("key", cancellationToken: new(canceled: true)));
            await group.SendAsync("say", "hello", cancellation);
            await group.OrderedSendAsync("say", "hello", cancellation);
            await group.SendToAsync(0, "say", "hello", cancellation);
            await group.QueryAsync<string, string>("ask", "well", cancellationToken: cancellation);
        }
        await map.PutAsync("later", 1, cancellationToken: cancellation);
        Assert.Equal(["put", "get", "get", "put", "update", "batch", "get", "send", "ordered send", "send to", "query"], ended.Select(static activity => activity.OperationName));
        var failed = Assert.Single(ended, static activity => activity.Status == ActivityStatusCode.Error);
        Assert.Equal(("get", nameof(TaskCanceledException)), (failed.OperationName, failed.GetTagItem("ida.outcome")));
        Assert.All(ended.Except([failed]), static activity => Assert.Equal("ok", activity.GetTagItem("ida.outcome")));
        var batch = ended.Single(static activity => activity.OperationName == "batch");
        Assert.Equal(2, batch.GetTagItem("ida.keys"));
        Assert.Equal(1, batch.GetTagItem("ida.shards"));
        Assert.Equal("traced", batch.GetTagItem("ida.group"));
        var update = ended.Single(static activity => activity.OperationName == "update");
        Assert.Equal(2, ended.Count(activity => activity.ParentId == update.Id));
    }

    /// <summary>An activity whose start a listener broke is no parent of the calls within.</summary>
    [Fact]
    public async Task Calls_within_a_call_at_which_a_listener_throws_are_below_what_was_there_before()
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var node = await IdaNode.StartAsync(new() { Cluster = "traces" }, cancellation);
        var group = await node.JoinAsync("thrown at once", cancellationToken: cancellation);
        var dht = await group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 1 }, static maps => maps.Map<string, int>("parents"), cancellation);
        var map = dht.Map<string, int>("parents");
        var own = new AsyncLocal<bool> { Value = true };
        var inner = new ConcurrentQueue<Activity>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == "Ida",
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStarted = activity =>
            {
                if (!own.Value) return;
                if (activity.OperationName == "update") throw new InvalidOperationException("on purpose");
                inner.Enqueue(activity);
            },
        };
        ActivitySource.AddActivityListener(listener);
        Assert.Equal(1, await map.UpdateAsync("key", static entry => entry.ValueOr(0) + 1, cancellationToken: cancellation));
        Assert.Equal(2, inner.Count);
        Assert.All(inner, static activity => Assert.Null(activity.ParentId));
    }

    /// <summary>A listener is user code: what it throws is neither the caller's nor the node's.</summary>
    [Theory]
    [InlineData("asked")]
    [InlineData("begun")]
    [InlineData("ended")]
    public async Task A_listener_that_throws_changes_nothing(string when)
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var node = await IdaNode.StartAsync(new() { Cluster = "traces" }, cancellation);
        var group = await node.JoinAsync("thrown at", static g => g.Handle<string>("say", static (_, _) => { }).OnQuery<string, string>("ask", static (_, text) => text), cancellationToken: cancellation);
        var dht = await group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 1 }, static maps => maps.Map<string, int>("m"), cancellation);
        var map = dht.Map<string, int>("m");
        // Tests beside this one have nodes too, and look at what is traced.
        var own = new AsyncLocal<bool> { Value = true };
        int thrown = 0;
        void Throw(string now)
        {
            if (!own.Value || now != when) return;
            Interlocked.Increment(ref thrown);
            throw new InvalidOperationException(now);
        }
        using (var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name is "Ida" or "Ida.GroupCore",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) =>
            {
                Throw("asked");
                return ActivitySamplingResult.AllData;
            },
            ActivityStarted = _ => Throw("begun"),
            ActivityStopped = _ => Throw("ended"),
        })
        {
            ActivitySource.AddActivityListener(listener);
            await map.PutAsync("key", 1, cancellationToken: cancellation);
            Assert.Equal(1, (await map.GetAsync("key", cancellationToken: cancellation)).Value);
            Assert.Equal(2, await map.UpdateAsync("key", static entry => entry.Value + 1, cancellationToken: cancellation));
            await group.OrderedSendAsync("say", "hello", cancellation);
            Assert.Single(await group.QueryAsync<string, string>("ask", "well", cancellationToken: cancellation));
        }
        Assert.Null(Activity.Current);
        Assert.InRange(Volatile.Read(ref thrown), 5, 100);
        await group.FlushAsync(cancellation);
        Assert.Equal((0L, 0L, 0, 0L), group.Protocol.Backlog);
    }
}
