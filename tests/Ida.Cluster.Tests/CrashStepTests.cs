using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Cluster.Tests;

/// <summary>
/// views-and-flush.md#when-things-fail: a crash at each named step of a view change, and perhaps another one of the node that takes over the step. The next view installs
/// after at most one round more than there were failures. The Oracle's voters are nodes outside the group.
/// </summary>
public sealed class CrashStepTests
{
    private const int Voters = 5, Members = 6;
    private static readonly IdaNodeOptions Options = new() { Membership = new() { OracleSize = Voters } };

    public static TheoryData<string, SimCarrier> Steps =>
        [.. from carrier in new[] { SimCarrier.Memory, SimCarrier.Mesh } from step in new[] { "Propose", "Report", "Cut", "Pull", "Forward", "FlushAck", "ViewCompletion", "Install" } select (step, carrier)];

    [Theory, MemberData(nameof(Steps))]
    public void B7_a_crash_at_a_step_of_the_view_change_and_of_its_successor_delays_it_by_a_round_each(string step, SimCarrier carrier)
    {
        // Over the mesh a crash falls between the same two frames; only the sockets are tried anew.
        int seeds = carrier == SimCarrier.Memory ? 30 : 8;
        int runs = 0, reached = 0, twice = 0;
        var ranks = new SortedSet<int>();
        SimulationRunner.ForEachSeed(seeds, $"*{nameof(B7_a_crash_at_a_step_of_the_view_change_and_of_its_successor_delays_it_by_a_round_each)}", run =>
        {
            var cluster = new SimCluster(run.Start(new() { Carrier = carrier }));
            var simulation = cluster.Simulation;
            var checker = new VirtualSynchronyChecker(new() { StatesAgree = true });
            var calls = simulation.KeepCalls(CallLedger.Longest);
            simulation.AddInvariant("virtual synchrony", () => checker.Passed ? null : checker.ToString());
            var crash = new CrashStep(step, simulation);
            simulation.RunAsync(async () =>
            {
                for (int i = 0; i < Voters; i++) crash.Watch((await cluster.StartAsync(calls, Options)).Host);
                var members = new List<WatchedMember>();
                for (int i = 0; i < Members; i++)
                {
                    var member = new WatchedMember(checker, calls, await cluster.StartAsync(calls, Options));
                    crash.Watch(member.Member.Host);
                    members.Add(member);
                    await member.JoinAsync();
                }
                await simulation.Delay(TimeSpan.FromSeconds(1));
                ulong message = 0;
                var old = members[0].Group.CurrentView;
                var first = members[simulation.Random.Next(Members)];
                // Many messages are on their way, and a crash leaves each survivor with a different part of them, so there is something to pull.
                for (int i = 0; i < 20; i++)
                {
                    Send(1);
                    await simulation.Delay(TimeSpan.FromMicroseconds(100));
                }
                crash.Arm();
                first.Member.Host.Crash();
                for (int turn = 0; turn < 200 && !Changed(); turn++)
                {
                    NoteDead();
                    Send(1);
                    await simulation.Delay(TimeSpan.FromMilliseconds(100));
                }
                await simulation.Delay(TimeSpan.FromSeconds(2));
                NoteDead();
                Assert.True(Changed(), string.Join("; ", members.Where(one => one.Usable).Select(one => one.Group.Protocol)));
                checker.CheckFinal(atRest: true);
                checker.ThrowIfFailed();
                calls.Finish();
                Assert.Null(calls.Wrong);
                int failures = members.Count(one => !one.Member.Host.Alive);
                Assert.True(crash.Rounds <= failures + 1, $"{crash.Rounds} rounds for {failures} failures");
                runs++;
                if (crash.Victims.Count > 0) reached++;
                if (crash.Victims.Count > 1) twice++;
                foreach (var victim in crash.Victims) ranks.Add(old.RankOf(members.Find(one => one.Member.Host == victim)?.Member.Node.Id ?? default));

                void Send(int each)
                {
                    foreach (var one in members.Where(one => one.Usable))
                        for (int i = 0; i < each; i++)
                        {
                            ulong id = ++message;
                            _ = simulation.Spawn(() => one.SendAsync(id, ordered: id % 2 == 0));
                        }
                }

                void NoteDead()
                {
                    foreach (var gone in members.Where(one => !one.Member.Host.Alive)) gone.End();
                }

                bool Changed()
                {
                    var alive = members.Where(one => one.Member.Host.Alive).ToList();
                    return alive.TrueForAll(one => one.Usable && one.Group.CurrentView.Members.Count == alive.Count);
                }
            }, TimeSpan.FromMinutes(2));
        });
        TestContext.Current.TestOutputHelper!.WriteLine($"{step}: {runs} runs, reached in {reached}, twice in {twice}, ranks {string.Join(' ', ranks)}");
        if (runs >= seeds) Assert.True(reached > 0, $"{step} was never reached");
        if (runs < 30) return;
        Assert.True(reached >= 25 && twice >= 5, $"{step} was reached in {reached} runs of {runs}, twice in {twice}");
        // Voters are not members. Reports, acknowledgements, pulls and forwards come from many members; cuts and view completions from the flush leader and its successor.
        if (step is "Report" or "FlushAck" or "Pull" or "Forward") Assert.True(ranks.Count >= 4, string.Join(' ', ranks));
        else if (step is "Cut" or "ViewCompletion") Assert.Superset(new HashSet<int> { 0, 1 }, new HashSet<int>(ranks));
    }

    /// <summary>
    /// A view change with a DHT above it, and the transfer to the member that is swapped in: its source and its target crash at each step while clients read and append.
    /// </summary>
    [Theory]
    [InlineData("CutPart")]
    [InlineData("StatePull")]
    [InlineData("Chunk")]
    [InlineData("StateEnd")]
    [InlineData("Ready")]
    public void B7_a_crash_at_a_step_of_a_hot_swap_loses_nothing_or_ends_the_dht(string step)
    {
        int runs = 0, reached = 0, twice = 0, lost = 0;
        SimulationRunner.ForEachSeed(20, $"*{nameof(B7_a_crash_at_a_step_of_a_hot_swap_loses_nothing_or_ends_the_dht)}", run =>
        {
            var simulation = run.Start();
            var crash = new CrashStep(step, simulation);
            var dht = new DhtCluster(simulation, new() { Timeout = TimeSpan.FromSeconds(20) }, shardSize: 3, targetSize: 6) { NodeOptions = Options, Started = member => crash.Watch(member.Host) };
            // Slots 0, 2, 4 and 6 are of one shard, 1, 3 and 5 of the other, so a hole in the second shard is filled from the first.
            var report = dht.Run(7, voters: Voters, body: async () =>
            {
                await simulation.Delay(TimeSpan.FromMilliseconds(200));
                int wanted = 1 + (2 * simulation.Random.Next(3));
                for (int i = Voters; i < Voters + 7; i++)
                {
                    if ((await dht[i].StatusAsync()).OwnSlot != wanted) continue;
                    crash.Arm();
                    dht.Members[i].Host.Crash();
                }
                await simulation.Delay(TimeSpan.FromSeconds(2));
            });
            report.ThrowIfFailed();
            Assert.NotNull(dht.Members.FirstOrDefault(member => !member.Host.Alive));
            runs++;
            if (crash.Victims.Count > 0) reached++;
            if (crash.Victims.Count > 1) twice++;
            if (!dht.Lost) return;
            // The shard has three replicas, of which one is gone. It is lost only if the step takes the other two.
            Assert.True(crash.Victims.Count > 1, $"{crash.Victims.Count} crashed at {step}, and the shard was lost");
            lost++;
        });
        TestContext.Current.TestOutputHelper!.WriteLine($"{step}: {runs} runs, reached in {reached}, twice in {twice}, depopulated in {lost}");
        if (runs >= 20) Assert.True(reached >= 15, $"{step} was reached in {reached} runs of {runs}");
    }
}
