using Ida.Network.Tests.Hosts;
using Ida.NetworkMember;

namespace Ida.Network.Tests;

/// <summary>Names of machines: each machine has a file of its own for them, and its programs see its changes.</summary>
[Collection(HostNetworkCollection.Name)]
public sealed class HostsFileTests(HostNetwork network)
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task A_process_sees_the_names_of_its_machine_and_their_changes()
    {
        await network.Machines.SetHostsAsync(1, "127.0.0.1 localhost\n");
        await using var cluster = new HostCluster(network.Machines, new() { Machines = [1], Seeds = [1] });
        cluster.Start();
        // No server of names can be reached from there, and the file does not have the name yet.
        Assert.Contains(await LookUpAsync(), (string[])["HostNotFound", "TryAgain"]);
        await network.Machines.SetHostsAsync(1, "10.77.0.2 seeds.example\n10.77.0.3 seeds.example\n");
        Assert.Equal("10.77.0.2 10.77.0.3", await LookUpAsync());
        await network.Machines.SetHostsAsync(1, "10.77.0.4 seeds.example\n");
        Assert.Equal("10.77.0.4", await LookUpAsync());

        async Task<string> LookUpAsync() => (await cluster.Running[1].AskAsync(NetworkCommands.LookUp + "seeds.example", s_limit)).State;
    }
}
