using Ida.Process.Tests.Processes;
using Ida.Tests.Shared;

namespace Ida.Process.Tests.Nodes;

/// <summary>The small samples as a person runs them.</summary>
[Collection("processes, one test at a time")]
public sealed class SampleTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task The_demo_of_the_replicated_log_ends_with_equal_logs_and_leaves_no_process()
    {
        await using var demo = SampleProcess.Start("ReplicatedLog");
        await demo.LineAsync("All three write", Soon);
        int[] members = ProcessTable.ChildrenOf(demo.Id);
        Assert.Equal(3, members.Length);
        Assert.True(await demo.ExitAsync(TimeSpan.FromSeconds(60)) == 0, demo.Output);
        Assert.Contains("received the log of 9 lines", demo.Output, StringComparison.Ordinal);
        Assert.True(await ProcessTable.AllGoneAsync(members, Soon));
    }

    [Fact]
    public async Task The_replicated_log_refuses_a_seed_that_is_none()
    {
        var (exitCode, _, errors) = await SampleProcess.RunAsync("ReplicatedLog", "--seed", "nonsense", "--name", "ann");
        Assert.Equal(2, exitCode);
        Assert.Single(errors);
    }

    [Fact]
    public async Task The_first_page_works_in_two_terminals()
    {
        string seed = FreePort.Address();
        await using var one = SampleProcess.Start("FirstDht", seed);
        await one.LineAsync("In the group.", Soon);
        await using var two = SampleProcess.Start("FirstDht", seed);
        await Task.WhenAll(one.LineAsync("3 apples, 5 pears", Soon), two.LineAsync("3 apples, 5 pears", Soon));
        one.Say("7 2");
        await one.LineAsync("7 apples, 2 pears", Soon);
        two.Say("");
        await two.LineAsync("7 apples, 2 pears", Soon);
    }

    /// <summary>The first code of README.md is the sample's program up to its loop, without the lines that it prints in between and without a choice of seeds.</summary>
    [Fact]
    public void The_first_page_shows_the_program_that_the_sample_runs()
    {
        string page = File.ReadAllText(RepositoryFiles.PathOf("README.md")), program = File.ReadAllText(RepositoryFiles.PathOf("samples/FirstDht/Program.cs"));
        string shown = page.Split("```csharp\n")[1].Split("```")[0];
        string run = program.Split("\n\nConsole.")[0].Replace("args is [] ? [\"127.0.0.1:7700\"] : args", "[\"127.0.0.1:7700\"]", StringComparison.Ordinal);
        Assert.Equal(Code(shown), Code(run));

        static string[] Code(string text) => [.. text.Split('\n')
            .Where(line => line.Trim().Length > 0 && !line.StartsWith("Console.", StringComparison.Ordinal))
            .Select(line => string.Join(' ', line.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)))];
    }
}
