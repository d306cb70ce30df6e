using System.Globalization;
using FiveMachines.Machines;

namespace Ida.Network.Tests.Hosts;

/// <summary>What the tests of real networks need of the computer, each tried by itself, without what makes the machines of the tests.</summary>
internal static class HostRequirements
{
    private static readonly string[] s_programs = ["ip", "tc", "iptables", "ip6tables", "iptables-restore", "ip6tables-restore", "bash", "timeout", "unshare"];

    /// <summary>Features of the kernel, and a command that shows each in a network namespace of its own.</summary>
    private static readonly (string Feature, string Command)[] s_features =
    [
        ("pairs of interfaces", "ip link add probe1 type veth peer name probe2"),
        ("bridges", "ip link add probe3 type bridge"),
        ("a firewall", "iptables -A INPUT -s 10.77.0.1 -j DROP"),
        ("a firewall of IP version 6", "ip6tables -A INPUT -s fd77::1 -j DROP"),
        ("random loss", "iptables -A INPUT -m statistic --mode random --probability 0.5 -j DROP"),
        ("random loss of IP version 6", "ip6tables -A INPUT -m statistic --mode random --probability 0.5 -j DROP"),
        ("narrow links", "tc qdisc add dev lo root tbf rate 1mbit burst 16kb latency 200ms"),
    ];

    /// <summary>What is missing here; null: nothing.</summary>
    public static async Task<string?> MissingAsync()
    {
        if (!OperatingSystem.IsLinux()) return "network namespaces need Linux";
        if (!Environment.IsPrivilegedProcess) return "network namespaces need root";
        string[] folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':', StringSplitOptions.RemoveEmptyEntries);
        string[] programs = [.. s_programs.Where(program => !folders.Any(folder => File.Exists(Path.Combine(folder, program))))];
        if (programs.Length > 0) return $"programs are missing: {string.Join(", ", programs)}";
        if (await FailureAsync("unshare", "-n", "true") is { } forbidden) return $"network namespaces are not allowed here: {forbidden}";
        // Named as those of the tests, so that the next run removes what a killed one left.
        string name = string.Create(CultureInfo.InvariantCulture, $"ida{Environment.ProcessId}x0-probe");
        if (await FailureAsync("ip", "netns", "add", name) is { } unnamed) return $"network namespaces cannot have names here: {unnamed}";
        try
        {
            foreach (var (feature, command) in s_features)
                if (await FailureAsync([.. (string[])["ip", "netns", "exec", name], .. command.Split(' ')]) is { } failure) return $"the kernel has no {feature}: {failure}";
        }
        finally
        {
            await Shell.RunAsync(null, "ip", "netns", "del", name);
        }
        return null;
    }

    private static async Task<string?> FailureAsync(params string[] words)
    {
        try
        {
            await Shell.RunAsync(null, words);
            return null;
        }
        catch (ShellException failed)
        {
            return failed.Message;
        }
    }
}
