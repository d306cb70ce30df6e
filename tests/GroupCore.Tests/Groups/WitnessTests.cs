using GroupCore.Membership;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>What a member tells the flush leader of itself and of others counts until its next step, whatever else it tells the leader in this one.</summary>
public sealed class WitnessTests
{
    private readonly List<TaskCompletionSource> _gates = [];
    private GroupCluster? _all;

    // Tests name members by rank, since members join one by one and only the last view is of use here.
    private GroupCluster Settled(ulong seed, GroupOptions? options = null)
    {
        var cluster = new GroupCluster(new Simulation(new SimulationOptions { Seed = seed, ReplayCommand = $"seed {seed}" }), 5, options: options, more: g => g
            .Handle<byte[]>("ignore", static (from, m) => { })
            .HandleAsync<byte[]>("hang", async (from, m) =>
            {
                var gate = new TaskCompletionSource();
                _gates.Add(gate);
                await gate.Task.ConfigureAwait(false);
            })
            .HandleAsync<byte[]>("pass to 2", async (from, m) => await Rank(3).Group!.SendToAsync(2, "pass to 3", m).ConfigureAwait(false))
            .HandleAsync<byte[]>("pass to 3", async (from, m) => await Rank(2).Group!.SendToAsync(3, "hang", m).ConfigureAwait(false)));
        _all = cluster;
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private TestMember Rank(int rank) => _all!.Members.Single(m => m.Group!.Rank == rank);

    private void Send(int from, int to, string handler) => _ = _all!.Simulation.Spawn(() => Rank(from).Group!.SendToAsync(to, handler, Array.Empty<byte>()).AsTask());

    private void ChangeView(double seconds)
    {
        _all!.Simulation.Run(TimeSpan.FromMilliseconds(100));
        _all.Oracle.RequestView(_all.Oracle.Find("g")!.Id);
        _all.Simulation.Run(TimeSpan.FromSeconds(seconds));
    }

    /// <summary>Rank 3's handler of the leader's message waits for a handler at rank 2, which waits for one that hangs, at rank 3 again.</summary>
    [Fact]
    public void A_member_whose_handler_hangs_at_the_end_of_a_chain_is_suspected_though_it_is_handling_the_leaders_own_message()
    {
        using var cluster = Settled(1, new() { SlowMember = SlowMember.Evict, SlowMemberTimeout = TimeSpan.FromSeconds(4) });
        Send(0, 3, "pass to 2");
        ChangeView(8);
        Assert.All(cluster.Oracle.Suspicions, a => Assert.Equal((Rank(3).Id, Suspicion.Slow), a));
        Assert.True(cluster.Oracle.Suspicions.Count >= 4, $"{cluster.Oracle.Suspicions.Count} suspicions");
        foreach (var gate in _gates) cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
    }

    [Fact]
    public void Two_that_miss_a_third_are_its_witnesses_though_they_handle_messages_of_the_leader()
    {
        using var cluster = Settled(2);
        foreach (int witness in new[] { 1, 2 })
        {
            cluster.Simulation.Network.Cut(Rank(3).SimNode, Rank(witness).SimNode, CutMode.Drop);
            Send(witness, 3, "ignore");
            Send(0, witness, "hang");
        }
        ChangeView(6);
        // The two themselves, the leader, and the member that hears of it from the leader.
        Assert.Equal(Enumerable.Repeat((Rank(3).Id, Suspicion.FlushStall), 4), cluster.Oracle.Suspicions);
        cluster.Simulation.Network.Heal();
        foreach (var gate in _gates) cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle(30));
    }
}
