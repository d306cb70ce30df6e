using GroupCore.Groups;
using Ida.Nodes;
using Ida.Tests.Shared;

namespace Ida.Process.Tests.Nodes;

/// <summary>A node behind a proxy: the others know only the proxy's address.</summary>
public sealed class AdvertiseTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task A_node_is_reached_at_the_address_that_it_advertises()
    {
        using var proxy = new BreakingProxy { Target = new(FreePort.Address()) };
        await using var node = await StartAsync(Behind(proxy, [proxy.Address.Text]));
        Assert.Equal(proxy.Address, node.Address);
        await AssertReachedAsync(node, proxy);
    }

    [Fact]
    public async Task A_later_life_advertises_the_same_address()
    {
        using var proxy = new BreakingProxy { Target = new(FreePort.Address()) };
        var founding = new IdaNodeOptions { Cluster = "a" };
        var host = new LoopLifeHost(founding);
        await using var founder = await IdaNode.HostAsync(founding, host, TestContext.Current.CancellationToken);
        var rejoined = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var node = await StartAsync(Behind(proxy, [founder.Address.Text, proxy.Address.Text]) with
        {
            OnExcluded = ExclusionPolicy.Rejoin,
            OnRejoined = (_, _) =>
            {
                rejoined.TrySetResult();
                return Task.CompletedTask;
            },
            Membership = new()
            {
                LeaseDuration = TimeSpan.FromMilliseconds(200), IsolationTimeout = TimeSpan.FromMilliseconds(500), ExclusionTimeout = TimeSpan.FromMilliseconds(500),
            },
        });
        var firstLife = node.Id;
        // The only voter ends without a word, so nothing is decided any more and the node gives up its membership.
        await host.EndAsync();
        await rejoined.Task.WaitAsync(Bound, TestContext.Current.CancellationToken);
        Assert.NotEqual(firstLife, node.Id);
        Assert.Equal(proxy.Address, node.Address);
        await AssertReachedAsync(node, proxy);
    }

    private static IdaNodeOptions Behind(BreakingProxy proxy, string[] seeds) =>
        new() { Cluster = "a", Seeds = seeds, Listen = proxy.Target.Text, Advertise = proxy.Address.Text };

    /// <summary>A newcomer that is given only the proxy's address joins and sees that address in the view, and what it sends arrives.</summary>
    private static async Task AssertReachedAsync(IdaNode node, BreakingProxy proxy)
    {
        int before = proxy.Connections;
        var came = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        await JoinAsync(node, came);
        await using var other = await StartAsync(new() { Cluster = "a", Seeds = [proxy.Address.Text], Listen = "127.0.0.1:0" });
        var group = await JoinAsync(other, new());
        Assert.True(proxy.Connections > before);
        Assert.Contains(proxy.Address, group.CurrentView.Members.Select(m => m.Address));
        await group.OrderedSendAsync("say", "here");
        Assert.Equal("here", await came.Task.WaitAsync(Bound, TestContext.Current.CancellationToken));
    }

    private static Task<Group> JoinAsync(IdaNode node, TaskCompletionSource<string> came) =>
        node.JoinAsync("g", g => g.Handle<string>("say", (_, text) => came.TrySetResult(text))).AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken);

    private static Task<IdaNode> StartAsync(IdaNodeOptions options) =>
        IdaNode.StartAsync(options, TestContext.Current.CancellationToken).AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken);
}
