using GroupCore.Groups;

namespace Ida.Process.Tests.Nodes;

/// <summary>Real nodes and threads: a caller blocks its thread when its call has ended, while others wait for the same event. Each of them is told all the same.</summary>
public sealed class BlockingCallerTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(10);

    [Theory]
    [InlineData("leave")]
    [InlineData("dispose")]
    public async Task The_end_of_a_group_is_told_to_each_caller_that_waits_though_another_one_blocks(string how)
    {
        using var token = new CancellationTokenSource();
        await using var node = await IdaNode.StartAsync(new() { Cluster = "blocking" }, TestContext.Current.CancellationToken);
        var group = await node.JoinAsync("g", cancellationToken: TestContext.Current.CancellationToken);
        await MeetAsync(
            () => how == "leave" ? group.LeaveAsync().AsTask() : group.DisposeAsync().AsTask(),
            () => NextAsync(group),
            () => group.Completion,
            () => group.LeaveAsync(token.Token).AsTask(),
            () => group.LeaveAsync(token.Token).AsTask(),
            () => NextAsync(group));
        Assert.True(group.Completion.IsCompletedSuccessfully);
    }

    [Fact]
    public async Task A_view_is_told_to_each_reader_though_another_one_blocks()
    {
        var stop = TestContext.Current.CancellationToken;
        await using var first = await IdaNode.StartAsync(new() { Cluster = "blocking" }, stop);
        await using var second = await IdaNode.StartAsync(new() { Cluster = "blocking", Seeds = [first.Address.Text] }, stop);
        var group = await first.JoinAsync("g", cancellationToken: stop);
        var met = MeetAsync(() => NextAsync(group), () => NextAsync(group), () => NextAsync(group));
        await second.JoinAsync("g", cancellationToken: stop);
        await met;
    }

    [Fact]
    public async Task The_end_of_a_DHT_is_told_to_each_caller_that_waits_though_another_one_blocks()
    {
        var stop = TestContext.Current.CancellationToken;
        using var token = new CancellationTokenSource();
        await using var first = await IdaNode.StartAsync(new() { Cluster = "blocking" }, stop);
        await using var second = await IdaNode.StartAsync(new() { Cluster = "blocking", Seeds = [first.Address.Text] }, stop);
        Group[] groups = [await first.JoinAsync("g", cancellationToken: stop), await second.JoinAsync("g", cancellationToken: stop)];
        var options = new DhtOptions { ShardSize = 1, TargetSize = 2 };
        var dhts = await Task.WhenAll(groups.Select(g => g.EnableDhtAsync(options, static maps => maps.Map<string, int>("m"), stop).AsTask()));
        await MeetAsync(
            () => dhts[0].Completion,
            () => dhts[0].CloseAsync(token.Token).AsTask(),
            () => dhts[0].CloseAsync(token.Token).AsTask(),
            () => dhts[0].CloseAsync().AsTask());
    }

    [Fact]
    public async Task The_end_of_a_node_is_told_to_each_caller_that_waits_though_another_one_blocks()
    {
        var node = await IdaNode.StartAsync(new() { Cluster = "blocking" }, TestContext.Current.CancellationToken);
        await MeetAsync(() => node.Completion, () => node.DisposeAsync().AsTask(), () => node.DisposeAsync().AsTask());
    }

    /// <summary>Callers without a synchronization context. Each, once its call has ended, blocks until all have got that far.</summary>
    private static async Task MeetAsync(params Func<Task>[] waits)
    {
        using var all = new CountdownEvent(waits.Length);
        bool[] met = await Task.WhenAll(waits.Select(wait => Task.Run(async () =>
        {
            await wait().ConfigureAwait(false);
            all.Signal();
            return all.Wait(Bound);
        })));
        Assert.All(met, Assert.True);
    }

    /// <summary>What follows the current view: another one, or the end.</summary>
    private static async Task NextAsync(Group group)
    {
        await using var views = group.Views().GetAsyncEnumerator();
        await views.MoveNextAsync().ConfigureAwait(false);
        await views.MoveNextAsync().ConfigureAwait(false);
    }
}
