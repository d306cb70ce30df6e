using Ida.Testing;
using Ida.Testing.Checking;

namespace Ida.Cluster.Tests;

/// <summary>Groupcore-oracle 15, B1 with the real Oracle: crashes, pauses, cuts, leader changes, joins, judged by the checkers of G1-G9 and G12-G14.</summary>
public sealed class VirtualSynchronyTests
{
    [Fact]
    public void B1_groups_under_the_real_oracle_keep_every_guarantee()
    {
        long runs = 0, deliveries = 0;
        SimulationRunner.ForEachSeed(100, $"*{nameof(B1_groups_under_the_real_oracle_keep_every_guarantee)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            var checker = new VirtualSynchronyChecker(new() { StatesAgree = true });
            simulation.AddInvariant("virtual synchrony", () => checker.Passed ? null : checker.ToString());
            var faults = run.Faults(new() { Nodes = 6, MaxFaults = 5, MaxDown = 1, Within = TimeSpan.FromSeconds(3), MaxDuration = TimeSpan.FromSeconds(2) });
            simulation.RunAsync(async () =>
            {
                var members = new List<WatchedMember>();
                for (int i = 0; i < 6; i++)
                {
                    var member = new WatchedMember(checker, await cluster.StartAsync());
                    members.Add(member);
                    if (i < 5) await member.JoinAsync();
                }
                faults.Inject(simulation);
                simulation.After(TimeSpan.FromSeconds(1), () => _ = simulation.Spawn(async () =>
                {
                    try
                    {
                        if (members[5].Member.Host.Alive) await members[5].JoinAsync();
                    }
                    catch (InvalidOperationException)
                    {
                        // Refused, or excluded while it joined: the faults may do that.
                        members[5].End();
                    }
                }));
                ulong message = 0;
                for (int turn = 0; turn < 400; turn++)
                {
                    foreach (var gone in members.Where(one => !one.Member.Host.Alive || one.Member.Node.Completion.IsCompleted)) gone.End();
                    var usable = members.Where(one => one.Usable).ToList();
                    if (usable.Count == 0) break;
                    var caller = usable[simulation.Random.Next(usable.Count)];
                    _ = simulation.Random.Next(10) == 0
                        ? simulation.Spawn(caller.FlushAsync)
                        : simulation.Spawn(() => caller.SendAsync(++message, ordered: simulation.Random.Next(2) == 0));
                    await simulation.Delay(TimeSpan.FromMilliseconds(10));
                }
                simulation.Network.Heal();
                await simulation.Delay(TimeSpan.FromSeconds(70));
                foreach (var gone in members.Where(one => !one.Member.Host.Alive || one.Member.Node.Completion.IsCompleted)) gone.End();
                checker.CheckFinal(atRest: members.Any(one => one.Usable));
                checker.ThrowIfFailed();
                runs++;
                deliveries += checker.Deliveries;
            }, TimeSpan.FromMinutes(10));
        });
        // A crash while the Oracle grows past two voters may end it: then little is sent, but not in most runs.
        Assert.True(deliveries > runs * 500, $"{deliveries} deliveries in {runs} runs");
    }
}
