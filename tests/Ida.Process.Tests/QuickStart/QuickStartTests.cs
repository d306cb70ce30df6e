using Ida.Process.Tests.Processes;

namespace Ida.Process.Tests.QuickStart;

/// <summary>QuickStart as a person runs it: five processes, one killed, and what is left of it when it is over.</summary>
[Collection("processes, one test at a time")]
public sealed class QuickStartTests
{
    private static readonly TimeSpan UntilLoading = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan UntilEnded = TimeSpan.FromSeconds(180);
    private static readonly TimeSpan UntilGone = TimeSpan.FromSeconds(60);

    [Theory]
    [InlineData("1")]
    [InlineData("2")]
    public async Task A_member_dies_and_nothing_acknowledged_is_lost(string seed)
    {
        var (exitCode, output, _) = await SampleProcess.RunAsync("QuickStart", "--seed", seed);
        Assert.True(exitCode == 0, output);
        Assert.Contains("SIGKILL", output, StringComparison.Ordinal);
        Assert.Contains("hot swap:", output, StringComparison.Ordinal);
        Assert.DoesNotContain('\e', output);
    }

    [Theory]
    [InlineData("3", "2")]
    [InlineData("7", "3")]
    public async Task Other_sizes_work_too(string members, string shardSize)
    {
        var (exitCode, output, _) = await SampleProcess.RunAsync("QuickStart", "--members", members, "--shard-size", shardSize);
        Assert.True(exitCode == 0, output);
    }

    [Theory]
    [InlineData("--members", "0")]
    [InlineData("--members", "many")]
    [InlineData("--shard-size", "5")]
    [InlineData("--seed", "-3")]
    [InlineData("--seed")]
    [InlineData("--unknown")]
    [InlineData("stray")]
    public async Task Nonsense_gets_one_line_and_exit_code_2(params string[] arguments)
    {
        var (exitCode, output, errors) = await SampleProcess.RunAsync("QuickStart", arguments);
        Assert.Equal(2, exitCode);
        Assert.Empty(output);
        Assert.Single(errors);
    }

    [Theory]
    [InlineData(Signals.Interrupt, 130)]
    [InlineData(Signals.Terminate, 143)]
    public async Task After_a_signal_no_member_is_left(int signal, int expected)
    {
        await using var run = SampleProcess.Start("QuickStart");
        await run.LineAsync("loading", UntilLoading);
        int[] members = ProcessTable.ChildrenOf(run.Id);
        Assert.Equal(5, members.Length);
        Signals.Send(run.Id, signal);
        Assert.Equal(expected, await run.ExitAsync(UntilGone));
        Assert.True(await ProcessTable.AllGoneAsync(members, UntilGone));
    }

    /// <summary>Ctrl-C at a terminal: the signal goes to the conductor and to all members.</summary>
    [Theory]
    [InlineData("loading")]
    [InlineData("SIGKILL to")]
    public async Task After_a_ctrl_c_no_member_is_left(string phase)
    {
        await using var run = SampleProcess.StartGroup("QuickStart");
        await run.LineAsync("loading", UntilLoading);
        int[] members = ProcessTable.ChildrenOf(run.Id);
        Assert.Equal(5, members.Length);
        await run.LineAsync(phase, UntilLoading);
        Signals.SendToGroup(run.Id, Signals.Interrupt);
        Assert.Equal(130, await run.ExitAsync(UntilGone));
        Assert.Contains(run.ErrorLines, line => line.StartsWith("Interrupted", StringComparison.Ordinal));
        Assert.DoesNotContain("FAILED", run.Output, StringComparison.Ordinal);
        Assert.True(await ProcessTable.AllGoneAsync(members, UntilGone));
    }

    [Fact]
    public async Task When_the_conductor_itself_is_killed_no_member_is_left()
    {
        await using var run = SampleProcess.Start("QuickStart");
        await run.LineAsync("loading", UntilLoading);
        int[] members = ProcessTable.ChildrenOf(run.Id);
        Signals.Send(run.Id, Signals.Kill);
        Assert.True(await ProcessTable.AllGoneAsync(members, UntilGone));
    }

    [Fact]
    public async Task A_member_that_dies_on_its_own_is_a_failed_run_that_says_so()
    {
        await using var run = SampleProcess.Start("QuickStart");
        await run.LineAsync("loading", UntilLoading);
        int[] members = ProcessTable.ChildrenOf(run.Id);
        Signals.Send(members[^1], Signals.Kill);
        Assert.Equal(1, await run.ExitAsync(UntilEnded));
        Assert.Contains("ended on its own", run.Output, StringComparison.Ordinal);
        Assert.True(await ProcessTable.AllGoneAsync(members, UntilGone));
    }
}
