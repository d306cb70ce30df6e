using FiveMachines.Machines;
using Ida.Network.Tests.Hosts;

namespace Ida.Network.Tests;

/// <summary>The machines themselves: nothing of them stays behind, and what is cut does not get through.</summary>
[Collection(HostNetworkCollection.Name)]
public sealed class NamespacesTests(HostNetwork network)
{
    [Fact]
    public async Task What_a_run_that_was_killed_left_behind_is_removed_by_the_next_one()
    {
        _ = network.Machines;
        using var gone = System.Diagnostics.Process.Start("true");
        await gone.WaitForExitAsync(TestContext.Current.CancellationToken);
        string left = $"ida{gone.Id}x1-3", file = $"/etc/netns/{left}/hosts";
        await Shell.RunAsync(null, "ip", "netns", "add", left);
        Directory.CreateDirectory(Path.GetDirectoryName(file)!);
        await File.WriteAllTextAsync(file, "", TestContext.Current.CancellationToken);
        await using (var machines = await Namespaces.CreateAsync(2))
        {
            string[] there = await NamesAsync();
            Assert.DoesNotContain(left, there);
            Assert.Contains(machines.NameOf(2), there);
            Assert.False(Path.Exists(Path.GetDirectoryName(file)));
        }
        Assert.Equal(HostNetwork.Size + 1, (await NamesAsync()).Count(static name => name.StartsWith($"ida{Environment.ProcessId}x", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_cut_stops_everything_between_two_machines_and_nothing_else(bool v6)
    {
        var machines = network.Machines;
        Assert.True(await ReachesAsync(machines, 1, 2, v6));
        await machines.CutAsync([1], [2, 3]);
        Assert.False(await ReachesAsync(machines, 1, 2, v6));
        Assert.False(await ReachesAsync(machines, 3, 1, v6));
        Assert.True(await ReachesAsync(machines, 1, 4, v6));
        Assert.True(await ReachesAsync(machines, 2, 3, v6));
        await machines.HealAsync();
        Assert.True(await ReachesAsync(machines, 1, 2, v6));
    }

    /// <summary>Whether a dial from one machine to another is refused, as nobody listens there, rather than unanswered.</summary>
    private static async Task<bool> ReachesAsync(Namespaces machines, int from, int to, bool v6)
    {
        var address = v6 ? Namespaces.AddressV6(to) : Namespaces.Address(to);
        try
        {
            await machines.CommandAsync(from, null, "timeout", "1", "bash", "-c", $"echo > /dev/tcp/{address}/9");
            return true;
        }
        catch (ShellException failed)
        {
            return failed.Message.Contains("refused", StringComparison.Ordinal);
        }
    }

    private static async Task<string[]> NamesAsync() => [.. (await Shell.RunAsync(null, "ip", "netns", "list")).Split('\n').Select(static line => line.Split(' ')[0])];
}
