using GroupCore.Groups;
using Ida.Testing;
using Ida.Tests.Shared;
using Microsoft.Extensions.Logging;

namespace Ida.Cluster.Tests;

/// <summary>What a person on call reads about a cluster: docs/guide/operations.md.</summary>
public sealed class LogTests
{
    private const int Count = 4;
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(5);

    [Fact]
    public void Each_survivor_hears_of_a_crash_once_and_in_order() =>
        SimulationRunner.ForEachSeed(30, $"*{nameof(Each_survivor_hears_of_a_crash_once_and_in_order)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var (logs, groups) = await JoinedAsync(cluster);
                int victim = simulation.Random.Next(Count);
                string address = cluster.Members[victim].Node.Address.Text;
                int[] before = [.. logs.Select(static log => log.Entries.Count)];
                cluster.Members[victim].Host.Crash();
                await UntilAsync(simulation, () => groups.Where((_, at) => at != victim).All(static group => group.CurrentView.Members.Count == Count - 1));
                await simulation.Delay(TimeSpan.FromSeconds(2));
                for (int at = 0; at < Count; at++)
                {
                    if (at == victim) continue;
                    LogEntry[] told = [.. logs[at].Entries.Skip(before[at])];
                    int excluded = Single(told, "ProcessExcluded"), view = Single(told, "ViewInstalled");
                    int flush = Array.FindIndex(told, static entry => entry.Name == "FlushBegun"), lost = Array.FindIndex(told, static entry => entry.Name is "PeerLost" or "PeerNotReached" or "LinkOver");
                    Assert.True(flush >= 0 && flush < excluded && excluded < view, Text(told));
                    Assert.True(lost >= 0 || simulation.Options.Carrier != SimCarrier.Mesh, Text(told));
                    Assert.Contains(address, told[excluded].Message, StringComparison.Ordinal);
                    Assert.Contains($"Excluded: {address}", told[view].Message, StringComparison.Ordinal);
                    Assert.Contains($"with {Count - 1} members", told[view].Message, StringComparison.Ordinal);
                    Assert.Contains($"Node {cluster.Members[at].Node.Address.Text}", told[view].Message, StringComparison.Ordinal);
                    Assert.DoesNotContain(told, static entry => entry.Level == LogLevel.Critical || entry.Name == "LinesDropped");
                }
            }, Limit);
        });

    [Fact]
    public void A_member_hears_of_its_start_its_views_and_its_end() =>
        SimulationRunner.ForEachSeed(10, $"*{nameof(A_member_hears_of_its_start_its_views_and_its_end)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var (logs, groups) = await JoinedAsync(cluster);
                await groups[1].LeaveAsync();
                await cluster.Members[1].Node.DisposeAsync();
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(1));
                string[] names = [.. logs[1].Entries.Select(static entry => entry.Name)];
                int at = -1;
                foreach (string next in (string[])["Registered", "Joining", "ViewInstalled", "FlushBegun", "FlushEnded", "GroupLeft", "Departed", "NodeStopped"])
                {
                    int found = Array.IndexOf(names, next, at + 1);
                    Assert.True(found > at, $"{next} after {at} in {Text(logs[1].Entries)}");
                    at = found;
                }
                Assert.Contains(logs[0].Entries, static entry => entry.Name == "LeaderElected");
                Assert.Contains(logs[2].Entries, static entry => entry.Name is "LeaderKnown");
            }, Limit);
        });

    [Fact]
    public void A_dht_tells_of_its_foundation_its_slots_and_its_transfers() =>
        SimulationRunner.ForEachSeed(10, $"*{nameof(A_dht_tells_of_its_foundation_its_slots_and_its_transfers)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var (logs, groups) = await JoinedAsync(cluster);
                var options = new DhtOptions { ShardSize = 2, TargetSize = 2 };
                var first = await Task.WhenAll(groups.Take(2).Select(group => group.EnableDhtAsync(options, static maps => maps.Map<string, string>("m")).AsTask()));
                await first[0].Map<string, string>("m").PutAsync("key", new string('x', 1_000));
                var late = await groups[2].EnableDhtAsync(options, static maps => maps.Map<string, string>("m"));
                await late.WhenInitialisedAsync();
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(1));
                for (int at = 0; at < 2; at++)
                {
                    LogEntry[] told = [.. logs[at].Entries];
                    Assert.True(Single(told, "DhtFounded") < Single(told, "SlotTaken"), Text(told));
                    Assert.All(told.Where(static entry => entry.Name.StartsWith("Dht", StringComparison.Ordinal)), static entry => Assert.Equal("Ida", entry.Category));
                }
                LogEntry[] newcomer = [.. logs[2].Entries];
                Assert.True(Single(newcomer, "SlotTaken") < Array.FindIndex(newcomer, static entry => entry.Name == "TransferBegun"), Text(newcomer));
                var ended = newcomer[Single(newcomer, "TransferEnded")];
                Assert.Contains("1 keys", ended.Message, StringComparison.Ordinal);
            }, Limit);
        });

    [Fact]
    public void A_handler_that_hangs_is_told_once_and_its_end_too() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_handler_that_hangs_is_told_once_and_its_end_too)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var log = new LogCollector();
                var member = await cluster.StartAsync(new() { LoggerFactory = log });
                var group = await member.Node.JoinAsync("shop", g => g.HandleAsync<string>("say", async (_, _) => await simulation.Delay(TimeSpan.FromSeconds(10))));
                await group.SendAsync("say", "hello");
                await simulation.Delay(TimeSpan.FromSeconds(9));
                Assert.Contains("handler say", log.Entries[Single([.. log.Entries], "HandlerSlow")].Message, StringComparison.Ordinal);
                Assert.DoesNotContain(log.Entries, static entry => entry.Name == "HandlerEnded");
                await simulation.Delay(TimeSpan.FromSeconds(5));
                Assert.True(Single([.. log.Entries], "HandlerSlow") < Single([.. log.Entries], "HandlerEnded"));
            }, Limit);
        });

    [Fact]
    public void A_view_change_that_a_handler_holds_up_is_told_with_what_it_waits_for() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_view_change_that_a_handler_holds_up_is_told_with_what_it_waits_for)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var log = new LogCollector();
                var group = await (await cluster.StartAsync(new() { LoggerFactory = log })).Node.JoinAsync("shop", g => g.HandleAsync<string>("say", async (_, _) => await simulation.Delay(TimeSpan.FromSeconds(10))));
                var other = await (await cluster.StartAsync()).Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, _) => { }));
                // A view change waits until the messages that members sent one another in the view are handled.
                await other.SendToAsync(other.CurrentView.RankOf(group.Self), "say", "hello");
                await simulation.Delay(TimeSpan.FromSeconds(1));
                _ = simulation.Spawn(async () => await (await cluster.StartAsync()).Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, _) => { })));
                await UntilAsync(simulation, () => log.Entries.Any(static entry => entry.Name == "FlushSlow"));
                Assert.Contains("It waits for", log.Entries.First(static entry => entry.Name == "FlushSlow").Message, StringComparison.Ordinal);
                await UntilAsync(simulation, () => group.CurrentView.Members.Count == 3);
                await simulation.Delay(TimeSpan.FromSeconds(1));
                Assert.Contains(log.Entries, static entry => entry.Name == "FlushEnded" && entry.Id == 1204);
            }, Limit);
        });

    [Fact]
    public void A_fault_in_a_turn_is_the_last_thing_that_its_node_tells() =>
        SimulationRunner.ForEachSeed(10, $"*{nameof(A_fault_in_a_turn_is_the_last_thing_that_its_node_tells)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var (logs, _) = await JoinedAsync(cluster);
                var fault = new InvalidDataException("on purpose");
                cluster.Members[1].Host.FaultInTurn((TurnPlace)(run.Seed % 3), fault);
                await UntilAsync(cluster.Simulation, () => logs[1].Entries.Any(static entry => entry.Name == "NodeLost"));
                LogEntry[] told = [.. logs[1].Entries];
                Assert.Same(fault, told[Single(told, "NodeFaulted")].Exception);
                Assert.Equal(LogLevel.Critical, told[Single(told, "NodeFaulted")].Level);
                Assert.True(Single(told, "NodeFaulted") < Single(told, "NodeLost"), Text(told));
            }, Limit);
        });

    /// <summary>However many errors user code throws, the log has one line a second, with the first of them.</summary>
    [Fact]
    public void Handlers_that_throw_are_counted_and_the_first_is_told() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(Handlers_that_throw_are_counted_and_the_first_is_told)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var log = new LogCollector();
                var member = await cluster.StartAsync(new() { LoggerFactory = log });
                var group = await member.Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, text) => throw new InvalidDataException(text)));
                for (int i = 0; i < 50; i++) await group.OrderedSendAsync("say", $"number {i}");
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(3));
                var told = log.Entries.Where(static entry => entry.Name == "UserCodeFailed").ToList();
                Assert.InRange(told.Count, 1, 3);
                Assert.Equal("number 0", told[0].Exception?.Message);
                Assert.Contains("in say", told[0].Message, StringComparison.Ordinal);
            }, Limit);
        });

    [Fact]
    public void The_same_seed_tells_the_same() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(The_same_seed_tells_the_same)}", static run =>
        {
            string first = TellAll(run.Seed), second = TellAll(run.Seed);
            Assert.Equal(first, second);
            Assert.Contains("ViewInstalled", first, StringComparison.Ordinal);
        });

    private static string TellAll(ulong seed)
    {
        var cluster = new SimCluster(new(new SimulationOptions { Seed = seed, Carrier = SimCarrier.Mesh }));
        return cluster.Simulation.RunAsync(async () =>
        {
            var (logs, _) = await JoinedAsync(cluster);
            cluster.Members[0].Host.Crash();
            await cluster.Simulation.Delay(TimeSpan.FromSeconds(5));
            return string.Join("\n\n", logs.Select(static log => Text(log.Entries))) + await cluster.Members[1].Node.DescribeAsync();
        }, Limit);
    }

    private static async Task<(List<LogCollector> Logs, List<Group> Groups)> JoinedAsync(SimCluster cluster)
    {
        var (logs, groups) = (new List<LogCollector>(), new List<Group>());
        for (int i = 0; i < Count; i++)
        {
            logs.Add(new());
            var member = await cluster.StartAsync(new() { LoggerFactory = logs[i] });
            groups.Add(await member.Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, _) => { })));
        }
        await UntilAsync(cluster.Simulation, () => groups.All(static group => group.CurrentView.Members.All(static member => member.Initialised) && group.CurrentView.Members.Count == Count));
        await cluster.Simulation.Delay(TimeSpan.FromSeconds(2));
        return (logs, groups);
    }

    private static async Task UntilAsync(Simulation simulation, Func<bool> holds)
    {
        for (int waited = 0; !holds(); waited++)
        {
            Assert.True(waited < 6_000, "The condition did not become true in time.");
            await simulation.Delay(TimeSpan.FromMilliseconds(10));
        }
    }

    // The index of the only event of that name.
    private static int Single(LogEntry[] told, string name)
    {
        Assert.True(told.Count(entry => entry.Name == name) == 1, $"{name} in: {Text(told)}");
        return Array.FindIndex(told, entry => entry.Name == name);
    }

    private static string Text(IEnumerable<LogEntry> told) => string.Join('\n', told.Select(static entry => $"{entry.Id} {entry.Name}: {entry.Message}"));
}
