namespace Ida.Process.Tests.Nodes;

/// <summary>A node lives longer than the request that starts it.</summary>
public sealed class StartContextTests
{
    private static readonly AsyncLocal<object?> s_request = new();

    [Fact]
    public async Task A_node_keeps_nothing_of_the_context_that_started_it()
    {
        var (node, request) = await Task.Run(static async () =>
        {
            s_request.Value = new();
            var held = new WeakReference(s_request.Value);
            return (await IdaNode.StartAsync(new() { Cluster = "context", Listen = "127.0.0.1:0" }), held);
        });
        await using (node)
        {
            // A thread of the pool holds the context of its last work until it has gone on.
            for (int i = 0; request.IsAlive && i < 100; i++)
            {
                GC.Collect();
                await Task.Run(static () => { });
            }
            Assert.False(request.IsAlive);
            Assert.Equal(GroupCore.Membership.MembershipState.Active, node.State);
        }
    }
}
