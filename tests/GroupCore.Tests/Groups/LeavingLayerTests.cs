using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>A member that leaves a group first asks its layers whether it may. So no layer is attached after the request to leave.</summary>
public sealed class LeavingLayerTests
{
    /// <summary>The layer may be done with its handover already while it is asked.</summary>
    [Fact]
    public async Task A_layer_that_keeps_a_member_may_let_it_go_while_it_is_asked()
    {
        using var cluster = new GroupCluster(8, 2);
        Assert.True(cluster.Settle());
        var group = cluster[1].Group!;
        var attaching = group.AttachLayerAsync(ToyLayers.First, static port =>
        {
            var layer = new TestLayer(port, static () => []);
            layer.Leaves = () =>
            {
                port.Leave();
                return false;
            };
            return layer;
        }).AsTask();
        Assert.True(cluster.Simulation.RunUntil(() => attaching.IsCompleted, TimeSpan.FromSeconds(5)));
        await attaching;
        var leaving = group.LeaveAsync().AsTask();
        Assert.True(cluster.Simulation.RunUntil(() => leaving.IsCompleted, TimeSpan.FromSeconds(5)));
        await leaving;
    }

    [Fact]
    public async Task R_nothing_is_attached_to_a_group_that_is_being_left()
    {
        using var cluster = new GroupCluster(7, 2);
        Assert.True(cluster.Settle());
        var group = cluster[1].Group!;
        bool created = false;
        var leaving = group.LeaveAsync().AsTask();
        var attaching = group.AttachLayerAsync(ToyLayers.First, port =>
        {
            created = true;
            return new TestLayer(port, static () => []);
        }).AsTask();
        Assert.True(cluster.Simulation.RunUntil(() => leaving.IsCompleted && attaching.IsCompleted, TimeSpan.FromSeconds(5)));
        await leaving;
        await Assert.ThrowsAsync<NotMemberException>(() => attaching);
        Assert.False(created);
        Assert.Null(cluster.Verdict());
    }
}
