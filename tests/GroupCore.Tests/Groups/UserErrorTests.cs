using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>What users' code throws in checkpoints, including exceptions that throw when asked for their text.</summary>
public sealed class UserErrorTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void R2_a_failed_save_whose_error_has_no_message_ends_the_join_and_no_node(bool throws)
    {
        using var cluster = new GroupCluster(21, 2, more: g => g.CheckpointSnapshot(() => throw new UnspeakableException(throws), static state => { }).OnError(static e => { }));
        cluster.Simulation.Run(TimeSpan.FromSeconds(4));
        Assert.IsType<JoinRefusedException>(cluster[1].JoinError ?? cluster[0].JoinError);
        Assert.All(cluster.Members, member => Assert.True(member.SimNode.Alive));
        Assert.Single(cluster.Members, member => member.Group is not null);
    }

    [Fact]
    public void R10_no_handler_runs_on_a_state_that_was_not_loaded()
    {
        using var cluster = new GroupCluster(22, 1);
        Assert.True(cluster.Settle());
        List<string> ran = [];
        var comer = cluster.Add(g => g.Checkpoint(static into => { }, static state => throw new FormatException("not mine"))
            .OnView(view => ran.Add($"view {view.Id}"))
            .OnError(static e => { }));
        cluster.Simulation.Run(TimeSpan.FromSeconds(4));
        Assert.Contains("not mine", Assert.IsType<JoinRefusedException>(comer.JoinError).Message, StringComparison.Ordinal);
        Assert.Empty(ran);
        Assert.Null(comer.Group);
    }

    private sealed class UnspeakableException(bool throws) : Exception
    {
        public override string Message => throws ? throw new InvalidOperationException("unspeakable") : null!;
    }
}
