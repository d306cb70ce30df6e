using Ida.Network.Tests.Hosts;
using Ida.Process.Tests.Processes;

namespace Ida.Network.Tests;

/// <summary>The sample as a person runs it. It makes machines of its own, or says that it cannot.</summary>
[Collection(HostNetworkCollection.Name)]
public sealed class FiveMachinesTests
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(2);

    [Fact]
    public async Task The_sample_ends_by_itself_with_all_checks_held_and_leaves_nothing()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "skipped: the sample's addresses of the loopback need Linux");
        await using var sample = SampleProcess.Start("FiveMachines");
        await sample.LineAsync("have found each other", s_limit);
        if (await HostRequirements.MissingAsync() is null) Assert.Contains("Five network namespaces", sample.Output, StringComparison.Ordinal);
        int[] members = ProcessTable.ChildrenOf(sample.Id);
        await sample.LineAsync("Another process has begun", s_limit);
        int[] later = ProcessTable.ChildrenOf(sample.Id);
        Assert.Single(later.Except(members));
        Assert.True(await sample.ExitAsync(s_limit) == 0, sample.Output);
        Assert.Contains("All checks held.", sample.Output, StringComparison.Ordinal);
        Assert.True(await ProcessTable.AllGoneAsync([.. members.Union(later)], s_limit));
        Assert.DoesNotContain(Directory.Exists("/run/netns") ? Directory.GetFiles("/run/netns") : [], name => Path.GetFileName(name).StartsWith($"ida{sample.Id}x", StringComparison.Ordinal));
    }
}
