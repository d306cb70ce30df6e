using Ida.Process.Tests.Processes;

namespace Ida.Packages.Tests;

/// <summary>The examples of the first pages, in programs that use nothing of this repository but its packages.</summary>
public sealed class FirstPageTests(Packages packages)
{
    private static readonly TimeSpan s_soon = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task The_first_page_of_the_repository_works_in_two_terminals()
    {
        var programs = await packages.ProgramsAsync();
        await using var one = SampleProcess.Start(programs.PathOf("FirstPage"));
        await one.LineAsync(": world", s_soon);
        await using var two = SampleProcess.Start(programs.PathOf("FirstPage"));
        foreach (var terminal in new[] { one, two }) await terminal.LineAsync("3 apples, 5 pears. Press Enter to leave.", s_soon);
        foreach (var terminal in new[] { one, two })
        {
            terminal.Say("");
            Assert.True(await terminal.ExitAsync(s_soon) == 0, terminal.Output);
        }
    }

    [Fact]
    public async Task The_page_of_the_hash_table_works_in_one_terminal()
    {
        var programs = await packages.ProgramsAsync();
        await using var terminal = SampleProcess.Start(programs.PathOf("IdaPage"));
        await terminal.LineAsync("3 apples. Press Enter to leave.", s_soon);
        terminal.Say("");
        Assert.True(await terminal.ExitAsync(s_soon) == 0, terminal.Output);
    }

    [Theory]
    [InlineData("GroupCorePage", "Orders can be sent.")]
    [InlineData("OraclePage", "5 voters, a lease lasts 1 s.")]
    [InlineData("TestingPage", "seed 3: ")]
    public async Task The_page_of_any_other_package_works(string program, string says)
    {
        var programs = await packages.ProgramsAsync();
        var (exitCode, output, errors) = await SampleProcess.RunAsync(programs.PathOf(program));
        Assert.True(exitCode == 0, $"{output}\n{string.Join('\n', errors)}");
        Assert.Contains(says, output, StringComparison.Ordinal);
    }
}
