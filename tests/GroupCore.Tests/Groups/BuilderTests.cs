using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>A member's registrations are complete before it joins. Code that keeps the builder can change nothing later.</summary>
public sealed class BuilderTests
{
    public static TheoryData<string> Uses => [.. s_uses.Keys];

    private static readonly Dictionary<string, Action<GroupBuilder>> s_uses = new()
    {
        ["Handle"] = static g => g.Handle<int>("late", static (from, m) => { }),
        ["HandleAsync"] = static g => g.HandleAsync<int>("late", static (from, m) => default),
        ["HandleBytes"] = static g => g.HandleBytes("late", static (from, m) => { }),
        ["OnQuery"] = static g => g.OnQuery<int, int>("late", static (from, q) => q),
        ["OnQuery, its own answer"] = static g => g.OnQuery<int, int>("late", static (from, q) => QueryAnswer<int>.Of(q)),
        ["OnQueryAsync"] = static g => g.OnQueryAsync<int, int>("late", static (from, q) => new(QueryAnswer<int>.Of(q))),
        ["OnView"] = static g => g.OnView(static view => { }),
        ["OnViewProposed"] = static g => g.OnViewProposed(static (proposal, context) => context.Done()),
        ["OnViewProposedAsync"] = static g => g.OnViewProposedAsync(static (proposal, context) => default),
        ["Checkpoint"] = static g => g.Checkpoint(static to => { }, static state => { }),
        ["CheckpointSnapshot"] = static g => g.CheckpointSnapshot(static () => static to => { }, static state => { }),
        ["OnError"] = static g => g.OnError(static error => { }),
        ["Tag"] = static g => g.Tag("late"),
        ["Inline"] = static g => g.Inline(),
    };

    [Theory]
    [MemberData(nameof(Uses))]
    public void A_builder_is_refused_after_its_configuration(string use)
    {
        GroupBuilder? kept = null;
        using var cluster = new GroupCluster(1, 1, more: g => kept = g);
        Assert.True(cluster.Settle());
        Assert.Throws<InvalidOperationException>(() => s_uses[use](kept!));
    }

    /// <summary>In UTF-8 all halves are the same replacement character, so another such name would be the same number on the wire.</summary>
    [Fact]
    public void A_handler_name_with_half_a_surrogate_pair_is_refused()
    {
        Exception? refused = null;
        using var cluster = new GroupCluster(5, 1, more: g => refused = Record.Exception(() => g.Handle<int>("a\uD83D", static (from, m) => { })));
        Assert.True(cluster.Settle());
        Assert.Contains("surrogate", Assert.IsType<ArgumentException>(refused).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_save_that_is_async_is_refused_where_it_is_given()
    {
        ArgumentException? refused = null;
        using var cluster = new GroupCluster(3, 1, more: g =>
        {
            refused = Record.Exception(() => g.Checkpoint(static async to => await Task.CompletedTask, static state => { })) as ArgumentException;
            g.Checkpoint(static to => { }, static state => { });
        });
        Assert.True(cluster.Settle());
        Assert.Equal("save", refused?.ParamName);
        Assert.Contains("async", refused!.Message, StringComparison.Ordinal);
    }

    private static readonly Dictionary<string, Action<GroupBuilder>> s_async = new()
    {
        ["Handle"] = static g => g.Handle<int>("async", static async (from, m) => await Task.CompletedTask),
        ["HandleBytes"] = static g => g.HandleBytes("async", static async (from, m) => await Task.CompletedTask),
        ["OnError"] = static g => g.OnError(static async error => await Task.CompletedTask),
        ["OnView"] = static g => g.OnView(static async view => await Task.CompletedTask),
        ["OnViewProposed"] = static g => g.OnViewProposed(static async (proposal, context) => await context.SendAsync(0, "hook", 1)),
        ["Checkpoint"] = static g => g.Checkpoint(static to => { }, static async state => await Task.CompletedTask),
        ["CheckpointSnapshot"] = static g => g.CheckpointSnapshot(static () => static to => { }, static async state => await Task.CompletedTask),
    };

    [Theory]
    [InlineData("Handle", "handler", "HandleAsync")]
    [InlineData("HandleBytes", "handler", "HandleAsync")]
    [InlineData("OnError", "handler", "async")]
    [InlineData("OnView", "handler", "async")]
    [InlineData("OnViewProposed", "handler", "OnViewProposedAsync")]
    [InlineData("Checkpoint", "load", "async")]
    [InlineData("CheckpointSnapshot", "load", "async")]
    public void What_nobody_awaits_is_refused_where_it_is_async(string use, string parameter, string named)
    {
        ArgumentException? refused = null;
        using var cluster = new GroupCluster(4, 1, more: g => refused = Record.Exception(() => s_async[use](g)) as ArgumentException);
        Assert.True(cluster.Settle());
        Assert.Equal(parameter, refused?.ParamName);
        Assert.Contains(named, refused!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_configuration_that_is_async_is_refused()
    {
        using var cluster = new GroupCluster(1, 1);
        Assert.True(cluster.Settle());
        var refused = await Assert.ThrowsAsync<ArgumentException>(() => cluster[0].Host.JoinAsync("other", static async g => await Task.CompletedTask).AsTask().WaitAsync(TimeSpan.FromSeconds(5)));
        Assert.Equal("configure", refused.ParamName);
        Assert.Contains("async", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_handler_of_views_that_registers_another_is_told_of_and_the_group_goes_on(bool inline)
    {
        var errors = new List<GroupError>();
        bool on = false;
        using var cluster = new GroupCluster(2, 2, more: g =>
        {
            if (inline) g.Inline();
            g.OnError(errors.Add).OnView(view =>
            {
                if (on) g.OnView(static view => { });
            });
        });
        Assert.True(cluster.Settle());
        on = true;
        cluster.Add();
        Assert.True(cluster.Settle());
        Assert.All(errors, static error => Assert.IsType<InvalidOperationException>(error.Exception));
        Assert.True(errors.Count >= 3);
        _ = cluster.Simulation.Spawn(() => cluster[0].SendAsync(ordered: true));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Null(cluster.Verdict());
    }
}
