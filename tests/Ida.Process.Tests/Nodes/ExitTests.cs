using System.Diagnostics;
using Ida.Nodes;
using Ida.Process.Tests.Processes;

namespace Ida.Process.Tests.Nodes;

/// <summary><see cref="ExclusionPolicy.Exit"/>: the process ends, and says by its exit code why.</summary>
public sealed class ExitTests
{
    private const string Program = "Ida.Exiting";
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    [Theory]
    [InlineData("fault", "InvalidDataException: the fault")]
    [InlineData("unspeakable", "UnspeakableException")]
    public async Task A_fault_ends_the_process_and_is_written_to_standard_error(string happens, string says)
    {
        await using var founder = await IdaNode.StartAsync(new() { Cluster = "exiting" }, TestContext.Current.CancellationToken);
        await using var process = SampleProcess.Start(Program, founder.Address.Text, happens);
        await process.LineAsync("ready", Bound);
        process.Say("");
        Assert.Equal(IdaNode.FaultedExitCode, await process.ExitAsync(Bound));
        Assert.Contains(process.ErrorLines, line => line.Contains(says, StringComparison.Ordinal));
    }

    /// <summary>Listeners are told of meters and sources when the first node of the process makes them. What they do breaks neither calls nor other listeners nor later nodes.</summary>
    [Theory]
    [InlineData("listeners throw", "ready, 3 meters")]
    [InlineData("a listener of meters blocks", "ready")]
    [InlineData("a listener of traces blocks", "ready")]
    public async Task Listeners_that_were_there_before_the_first_node_do_it_no_harm(string happens, string says)
    {
        await using var founder = await IdaNode.StartAsync(new() { Cluster = "exiting" }, TestContext.Current.CancellationToken);
        await using var process = SampleProcess.Start(Program, founder.Address.Text, happens);
        await process.LineAsync(says, Bound);
        process.Say("");
        Assert.Equal(IdaNode.FaultedExitCode, await process.ExitAsync(Bound));
    }

    [Fact]
    public Task A_fault_ends_the_process_also_where_nobody_reads_what_it_writes() =>
        FaultedAsync(founder => new(Path.Combine(AppContext.BaseDirectory, Program), [founder, "nobody reads"]) { RedirectStandardError = true });

    /// <summary>Every write to that device fails: it has no space.</summary>
    [Fact]
    public async Task A_fault_ends_the_process_also_where_it_cannot_be_written()
    {
        Assert.SkipUnless(File.Exists("/dev/full"), "This system has no device that is full.");
        await FaultedAsync(founder => new("/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>/dev/full", Path.Combine(AppContext.BaseDirectory, Program), founder, "fault"]));
    }

    /// <summary>The log was told that a new life would follow the exclusion. Its last word is that none comes.</summary>
    [Fact]
    public async Task A_fault_on_the_way_out_of_an_excluded_life_ends_the_process_and_takes_back_that_a_new_life_follows()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var founding = new IdaNodeOptions { Cluster = "exiting" };
        var host = new LoopLifeHost(founding);
        await using var founder = await IdaNode.HostAsync(founding, host, cancellation);
        await using var process = SampleProcess.Start(Program, founder.Address.Text, "a fault on the way out");
        await process.LineAsync("ready", Bound);
        // The only voter ends without a word, so nothing is decided any more and the process gives up its membership.
        await host.EndAsync();
        Assert.Equal(IdaNode.FaultedExitCode, await process.ExitAsync(Bound));
        string[] told = [.. process.Output.Split('\n').Where(static line => line.StartsWith("NodeLost: ", StringComparison.Ordinal) || line.StartsWith("RejoinFailed: ", StringComparison.Ordinal))];
        Assert.Equal(2, told.Length);
        Assert.EndsWith("Next: a new life.", told[0], StringComparison.Ordinal);
        Assert.StartsWith("RejoinFailed: ", told[1], StringComparison.Ordinal);
    }

    private static async Task FaultedAsync(Func<string, ProcessStartInfo> start)
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var founder = await IdaNode.StartAsync(new() { Cluster = "exiting" }, cancellation);
        var info = start(founder.Address.Text);
        info.RedirectStandardOutput = info.RedirectStandardInput = true;
        using var process = System.Diagnostics.Process.Start(info)!;
        try
        {
            Assert.Equal("ready", await process.StandardOutput.ReadLineAsync(cancellation).AsTask().WaitAsync(Bound, cancellation));
            await process.StandardInput.WriteLineAsync();
            await process.WaitForExitAsync(cancellation).WaitAsync(Bound, cancellation);
            Assert.Equal(IdaNode.FaultedExitCode, process.ExitCode);
        }
        finally
        {
            process.Kill();
        }
    }

    [Fact]
    public async Task A_node_that_was_excluded_ends_its_process()
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var founder = await IdaNode.StartAsync(new() { Cluster = "exiting" }, cancellation);
        await using var second = await IdaNode.StartAsync(new() { Cluster = "exiting", Seeds = [founder.Address.Text] }, cancellation);
        var excluded = new TaskCompletionSource();
        bool had = false;
        await founder.JoinAsync("g", g => g.OnView(view =>
        {
            had |= view.Members.Count == 3;
            if (had && view.Members.Count == 2) excluded.TrySetResult();
        }), cancellationToken: cancellation);
        await second.JoinAsync("g", cancellationToken: cancellation);
        await using var process = SampleProcess.Start(Program, founder.Address.Text, "exclusion");
        await process.LineAsync("ready", Bound);
        Signals.Send(process.Id, Signals.Stop);
        await excluded.Task.WaitAsync(Bound, cancellation);
        Signals.Send(process.Id, Signals.Continue);
        Assert.Equal(IdaNode.ExcludedExitCode, await process.ExitAsync(Bound));
    }
}
