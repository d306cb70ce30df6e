using System.Globalization;
using FiveMachines.Machines;
using Ida.Network.Tests.Hosts;

namespace Ida.Network.Tests;

/// <summary>The machines themselves: nothing of them stays behind, and what is cut does not get through.</summary>
[Collection(HostNetworkCollection.Name)]
public sealed class NamespacesTests(HostNetwork network)
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(10);

    [Fact]
    public async Task What_a_run_that_was_killed_left_behind_is_removed_by_the_next_one()
    {
        _ = network.Machines;
        using var gone = System.Diagnostics.Process.Start("true");
        await gone.WaitForExitAsync(TestContext.Current.CancellationToken);
        string left = $"ida{gone.Id}x1-3", file = $"/etc/netns/{left}/hosts", only = $"/etc/netns/ida{gone.Id}x1-4";
        await Shell.RunAsync(null, "ip", "netns", "add", left);
        Directory.CreateDirectory(Path.GetDirectoryName(file)!);
        await File.WriteAllTextAsync(file, "", TestContext.Current.CancellationToken);
        Directory.CreateDirectory(only);
        await using (var machines = await Namespaces.CreateAsync(2))
        {
            string[] there = await NamesAsync();
            Assert.DoesNotContain(left, there);
            Assert.Contains(machines.NameOf(2), there);
            Assert.False(Path.Exists(Path.GetDirectoryName(file)));
            Assert.False(Path.Exists(only));
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

    /// <summary>By datagrams, since a dial needs both directions.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_cut_in_one_direction_stops_that_and_not_the_other(bool v6)
    {
        var machines = network.Machines;
        await ArrivesAsync(machines, 1, 2, v6);
        await ArrivesAsync(machines, 2, 1, v6);
        await machines.CutOneWayAsync(1, 2);
        long before = await ArrivedAsync(machines, 2, v6);
        await SendAsync(machines, 1, 2, v6);
        await UntilAsync(async () => (await machines.DroppedAsync()).Any(rule => rule is { Machine: 2, Chain: "INPUT", Packets: > 0 } && rule.V6 == v6));
        Assert.Equal(before, await ArrivedAsync(machines, 2, v6));
        await ArrivesAsync(machines, 2, 1, v6);
        await ArrivesAsync(machines, 3, 2, v6);
        await machines.HealAsync();
        await ArrivesAsync(machines, 1, 2, v6);
    }

    private static async Task ArrivesAsync(Namespaces machines, int from, int to, bool v6)
    {
        long before = await ArrivedAsync(machines, to, v6);
        await SendAsync(machines, from, to, v6);
        await UntilAsync(async () => await ArrivedAsync(machines, to, v6) > before);
    }

    private static Task<string> SendAsync(Namespaces machines, int from, int to, bool v6) =>
        machines.CommandAsync(from, null, "bash", "-c", $"echo > /dev/udp/{(v6 ? Namespaces.AddressV6(to) : Namespaces.Address(to))}/9");

    /// <summary>Datagrams that came to a machine, where no program waited for them.</summary>
    private static async Task<long> ArrivedAsync(Namespaces machines, int machine, bool v6)
    {
        if (v6)
        {
            string text = await machines.CommandAsync(machine, null, "cat", "/proc/net/snmp6");
            return long.Parse(text.Split('\n').Single(static line => line.StartsWith("Udp6NoPorts", StringComparison.Ordinal)).Split([' ', '\t'], StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture);
        }
        // A line of names, and one of figures.
        string[][] lines = [.. (await machines.CommandAsync(machine, null, "cat", "/proc/net/snmp")).Split('\n').Where(static line => line.StartsWith("Udp: ", StringComparison.Ordinal)).Select(static line => line.Split(' '))];
        return long.Parse(lines[1][Array.IndexOf(lines[0], "NoPorts")], CultureInfo.InvariantCulture);
    }

    private static async Task UntilAsync(Func<Task<bool>> holds)
    {
        long began = System.Diagnostics.Stopwatch.GetTimestamp();
        while (!await holds()) Assert.True(System.Diagnostics.Stopwatch.GetElapsedTime(began) < s_limit, "The datagram did not come.");
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
