using GroupCore.Hosting;
using Ida.Tests.Shared;

namespace Ida.Tests.Frames;

/// <summary>Hostile frames over real sockets (links.md#sizes-are-checked-before-anything-is-allocated, #malformed-input-is-counted-and-its-sender-muted): a short run;
/// <c>tests/Ida.Campaign -- --suite frames</c> runs very many.</summary>
public sealed class HostileFrameTests(ITestOutputHelper output)
{
    public static TheoryData<string> Ports() => OperatingSystem.IsLinux() ? ["Epoll", "Completion"] : ["Completion"];

    [Theory]
    [MemberData(nameof(Ports))]
    public async Task What_ever_failed_does_not_fail_again(string port)
    {
        string[] files = Directory.GetFiles(RepositoryFiles.PathOf("tests/Ida.Tests/Frames/Corpus"), "*.frames");
        Assert.NotEmpty(files);
        await using var system = await FrameVictims.StartAsync(Enum.Parse<SocketPortKind>(port));
        foreach (string file in files.Order(StringComparer.Ordinal))
        {
            string text = await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken);
            // Frames of another wire version would not be read.
            Assert.All(text.Split('\n', StringSplitOptions.RemoveEmptyEntries).Skip(2), line => Assert.Contains("{version}", line, StringComparison.Ordinal));
            string? failure = FrameCorpus.Send(text, system);
            Assert.True(failure is null && (failure = await system.CheckAsync()) is null, $"{Path.GetFileName(file)}: {failure}");
        }
    }

    [Theory]
    [MemberData(nameof(Ports))]
    public async Task Frames_of_strangers_change_nothing(string port)
    {
        var fuzz = new FrameFuzz(Enum.Parse<SocketPortKind>(port), 1, output.WriteLine);
        await fuzz.RunAsync(40_000, 5_000, shrink: false, TestContext.Current.CancellationToken);
        output.WriteLine(fuzz.Tally.ToString());
        Assert.True(fuzz.Done.Failed == 0, string.Join('\n', fuzz.Failures));
        Assert.Equal(40_000, fuzz.Tally.Count);
    }

    /// <summary>Who has the cluster's key may connect, and can do no more harm than a stranger without credentials to nodes that have none.</summary>
    [Fact]
    public async Task Frames_of_nodes_that_have_the_key_and_are_no_members_change_nothing()
    {
        var fuzz = new FrameFuzz(SocketPortKind.Auto, 2, output.WriteLine, secure: true);
        await fuzz.RunAsync(20_000, 4_000, shrink: false, TestContext.Current.CancellationToken);
        Assert.True(fuzz.Done.Failed == 0, string.Join('\n', fuzz.Failures));
        Assert.Equal(20_000, fuzz.Tally.Count);
    }

    [Theory]
    [MemberData(nameof(Ports))]
    public async Task Frames_of_a_member_that_lies_stop_no_node_and_the_others_go_on(string port)
    {
        var fuzz = new MemberFuzz(Enum.Parse<SocketPortKind>(port), 1, output.WriteLine);
        await fuzz.RunAsync(2_000, 1_000, TestContext.Current.CancellationToken);
        output.WriteLine(fuzz.Tally.ToString());
        output.WriteLine(fuzz.Memory);
        Assert.True(fuzz.Done.Failed == 0, string.Join('\n', fuzz.Failures));
        Assert.True(fuzz.Tally.Count > 0);
    }
}
