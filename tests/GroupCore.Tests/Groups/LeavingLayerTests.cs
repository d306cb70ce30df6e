using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>A layer is asked whether the group may be left: so none is attached when that was asked for.</summary>
public sealed class LeavingLayerTests
{
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
