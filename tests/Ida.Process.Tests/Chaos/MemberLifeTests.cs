using Ida.Chaos.Members;

namespace Ida.Process.Tests.Chaos;

/// <summary>When chaos accepts that a call fails because its part is over: when its node, its membership or its member is over, and not before.</summary>
public sealed class MemberLifeTests
{
    private static readonly TimeSpan s_bound = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task A_life_that_goes_on_is_not_over_and_one_that_has_ended_is()
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var node = await IdaNode.StartAsync(new() { Cluster = "lives" }, cancellation);
        var group = await node.JoinAsync("g", cancellationToken: cancellation).AsTask().WaitAsync(s_bound, cancellation);
        bool leaves = false;
        var life = new MemberLife(node, () => leaves);
        Assert.Equal((false, false, false), (life.IsOver, life.IsOverIn(null), life.IsOverIn(group)));
        leaves = true;
        Assert.True(life.IsOver);
        leaves = false;
        await group.LeaveAsync(cancellation).AsTask().WaitAsync(s_bound, cancellation);
        await group.Completion.WaitAsync(s_bound, cancellation);
        Assert.Equal((false, false, true), (life.IsOver, life.IsOverIn(null), life.IsOverIn(group)));
        await node.DisposeAsync();
        Assert.True(life.IsOver);
    }
}
