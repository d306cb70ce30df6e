using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;
using Ida.Tests.Shared;
using Microsoft.Extensions.Logging;

namespace Ida.Cluster.Tests;

/// <summary>What a node in trouble logs, and that it logs it once.</summary>
public sealed class TroubleLogTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(10);

    [Fact]
    public void A_member_that_is_cut_off_says_so_and_that_it_begins_a_new_life() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_member_that_is_cut_off_says_so_and_that_it_begins_a_new_life)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var logs = new List<LogCollector>();
                for (int i = 0; i < 4; i++)
                {
                    logs.Add(new());
                    var member = await cluster.StartAsync(new() { LoggerFactory = logs[i], OnExcluded = ExclusionPolicy.Rejoin });
                    await member.Node.JoinAsync("shop");
                }
                await simulation.Delay(TimeSpan.FromSeconds(3));
                var lost = cluster.Members[3].Host;
                simulation.Network.Partition([.. cluster.Members.Take(3).Select(static member => member.Host)], [lost]);
                await UntilAsync(simulation, () => logs[3].Entries.Any(static entry => entry.Name == "ContactLost"));
                await UntilAsync(simulation, () => logs[0].Entries.Any(static entry => entry.Name == "ProcessExcluded"));
                simulation.Network.Heal();
                await UntilAsync(simulation, () => logs[3].Entries.Any(static entry => entry.Name == "NodeRejoined"));
                InOrder(logs[3], "LeaseLost", "ContactLost", "Excluded", "GroupLost", "NodeLost", "NodeRejoined");
                Once(logs[3], "ContactLost", "Excluded", "GroupLost", "NodeLost", "NodeRejoined");
                Once(logs[0], "ProcessExcluded");
                Assert.Contains(cluster.Members.Take(3).Select((_, at) => logs[at]), static log => log.Entries.Any(static entry => entry.Name == "Suspects"));
                Assert.Contains("a new life", logs[3].Entries.Single(static entry => entry.Name == "NodeLost").Message, StringComparison.Ordinal);
            }, Limit);
        });

    [Fact]
    public void A_turn_that_takes_long_is_told_and_the_late_tick_behind_it() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_turn_that_takes_long_is_told_and_the_late_tick_behind_it)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var log = new LogCollector();
                var member = await cluster.StartAsync(new() { LoggerFactory = log });
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(1));
                member.Host.PauseInTurn(TimeSpan.FromMilliseconds(600));
                member.Host.Post(static () => { });
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(2));
                var slow = log.Entries.Single(static entry => entry.Name == "TurnSlow");
                Assert.Matches("took (59|60)[0-9] ms", slow.Message);
                Once(log, "LoopLate");
                Assert.Matches("the longest (59|60)[0-9] ms", await member.Node.DescribeAsync());
            }, Limit);
        });

    [Fact]
    public void Calls_that_are_refused_are_told_when_that_begins_and_when_it_is_over() =>
        SimulationRunner.ForEachSeed(3, $"*{nameof(Calls_that_are_refused_are_told_when_that_begins_and_when_it_is_over)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var log = new LogCollector();
                var first = await (await cluster.StartAsync(new() { LoggerFactory = log })).Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, _) => { }));
                var other = await (await cluster.StartAsync()).Node.JoinAsync("shop", g => g.HandleAsync<string>("say", async (_, _) => await simulation.Delay(TimeSpan.FromSeconds(8))));
                while (first.CurrentView.Members.Count < 2 || !first.CurrentView.Members[1].Initialised) await simulation.Delay(TimeSpan.FromMilliseconds(10));
                var calls = new List<Task>();
                int refused = 0;
                for (int i = 0; i < 13_000; i++)
                {
                    try
                    {
                        calls.Add(first.SendToAsync(1, "say", "x").AsTask());
                    }
                    catch (SendQueueFullException)
                    {
                        refused++;
                    }
                }
                refused += calls.Count(static call => call.Exception?.InnerException is SendQueueFullException);
                Assert.True(refused > 0);
                await simulation.Delay(TimeSpan.FromSeconds(3));
                Once(log, "CallsRefused");
                Assert.DoesNotContain(log.Entries, static entry => entry.Name == "CallsAccepted");
                await simulation.Delay(TimeSpan.FromSeconds(6));
                Once(log, "CallsRefused", "CallsAccepted");
                Assert.Contains($"{refused} before", log.Entries.Single(static entry => entry.Name == "CallsAccepted").Message, StringComparison.Ordinal);
                Assert.Contains($"ida.group.calls.refused: {refused}", await cluster.Members[0].Node.DescribeAsync(), StringComparison.Ordinal);
                Assert.NotNull(other);
            }, Limit);
        });

    [Fact]
    public void A_dht_that_refuses_operations_says_so_and_one_that_has_lost_a_shard_that_keys_are_gone() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_dht_that_refuses_operations_says_so_and_one_that_has_lost_a_shard_that_keys_are_gone)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var logs = new List<LogCollector>();
                var groups = new List<Group>();
                for (int i = 0; i < 4; i++)
                {
                    logs.Add(new());
                    groups.Add(await (await cluster.StartAsync(new() { LoggerFactory = logs[i] })).Node.JoinAsync("shop"));
                }
                var options = new DhtOptions { ShardSize = 1, TargetSize = 4, Member = new() { MaxInFlight = 1 } };
                var dhts = await Task.WhenAll(groups.Select(group => group.EnableDhtAsync(options, static maps => maps.Map<string, int>("m")).AsTask()));
                var map = dhts[0].Map<string, int>("m");
                Task[] puts = [.. Enumerable.Range(0, 100).Select(i => map.PutAsync($"key {i}", i).AsTask())];
                foreach (var put in puts) await put.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
                int refused = puts.Count(static put => put.Exception?.InnerException is OverloadedException);
                Assert.True(refused > 0);
                await simulation.Delay(TimeSpan.FromSeconds(8));
                Once(logs[0], "OperationsRefused", "OperationsAccepted");
                Assert.Contains($"{refused} before", logs[0].Entries.Single(static entry => entry.Name == "OperationsAccepted").Message, StringComparison.Ordinal);
                cluster.Members[3].Host.Crash();
                await UntilAsync(simulation, () => logs[0].Entries.Any(static entry => entry.Name == "ShardDepopulated"));
                var lost = logs[0].Entries.Single(static entry => entry.Name == "ShardDepopulated");
                Assert.Equal(LogLevel.Critical, lost.Level);
                Assert.Contains("shard ", lost.Message, StringComparison.Ordinal);
                Assert.Contains("DHT: over: Shard", await cluster.Members[0].Node.DescribeAsync(), StringComparison.Ordinal);
            }, Limit);
        });

    [Fact]
    public void A_node_that_sends_what_nobody_can_read_is_muted_and_named()
    {
        var cluster = new SimCluster(new(new SimulationOptions { Seed = 5, Carrier = SimCarrier.Mesh }));
        var simulation = cluster.Simulation;
        simulation.RunAsync(async () =>
        {
            var log = new LogCollector();
            var member = await cluster.StartAsync(new() { LoggerFactory = log });
            await simulation.Delay(TimeSpan.FromSeconds(2));
            Assert.DoesNotContain(log.Entries, static entry => entry.Name is "HandshakeRefused" or "InputRefused");
            // A peer is muted after 100 malformed frames.
            var other = await cluster.StartAsync();
            await simulation.Delay(TimeSpan.FromSeconds(2));
            SendMalformed(other, member, 150);
            await simulation.Delay(TimeSpan.FromSeconds(5));
            Once(log, "PeerMuted");
            Assert.Contains($"{other.Host.Address}", log.Entries.Single(static entry => entry.Name == "PeerMuted").Message, StringComparison.Ordinal);
            Assert.Contains(log.Entries, static entry => entry.Name == "InputRefused" && entry.Message.Contains("Malformed", StringComparison.Ordinal));
        }, Limit);
    }

    /// <summary>A peer can get itself muted as often as it likes, so at most one line a second tells of it.</summary>
    [Fact]
    public void Muted_nodes_are_logged_one_a_second()
    {
        var cluster = new SimCluster(new(new SimulationOptions { Seed = 5, Carrier = SimCarrier.Mesh }));
        var simulation = cluster.Simulation;
        simulation.RunAsync(async () =>
        {
            var log = new LogCollector();
            var member = await cluster.StartAsync(new() { LoggerFactory = log });
            for (int i = 0; i < 3; i++) await cluster.StartAsync();
            await simulation.Delay(TimeSpan.FromSeconds(2));
            foreach (var other in cluster.Members.Skip(1)) SendMalformed(other, member, 150);
            await simulation.Delay(TimeSpan.FromSeconds(0.9));
            Assert.InRange(member.Node.Counters.Refused(RefusalReason.Muted), 3, long.MaxValue);
            Once(log, "PeerMuted");
        }, Limit);
    }

    [Fact]
    public void Links_that_are_full_are_told_when_that_begins_and_when_it_is_over() =>
        SimulationRunner.ForEachSeed(3, $"*{nameof(Links_that_are_full_are_told_when_that_begins_and_when_it_is_over)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var log = new LogCollector();
                var member = await cluster.StartAsync(new() { LoggerFactory = log });
                await simulation.Delay(TimeSpan.FromSeconds(2));
                Assert.DoesNotContain(log.Entries, static entry => entry.Name is "LinksFull" or "LinksHaveRoom");
                long most = simulation.Options.MostQueuedBytes;
                member.Host.Post(() => member.Host.Carrier.Backlog.Add(most));
                await simulation.Delay(TimeSpan.FromSeconds(3));
                Once(log, "LinksFull");
                Assert.Contains($"hold {member.Host.Carrier.Backlog.Bytes} bytes", log.Entries.Single(static entry => entry.Name == "LinksFull").Message, StringComparison.Ordinal);
                Assert.DoesNotContain(log.Entries, static entry => entry.Name == "LinksHaveRoom");
                member.Host.Post(() => member.Host.Carrier.Backlog.Remove(most));
                await simulation.Delay(TimeSpan.FromSeconds(3));
                Once(log, "LinksFull", "LinksHaveRoom");
            }, Limit);
        });

    private static void SendMalformed(SimMember from, SimMember to, int count)
    {
        for (int i = 0; i < count; i++)
        {
            from.Host.Post(() =>
            {
                int peer = from.Host.Node.Links.Open(to.Host.Address, to.Host.Id);
                var frame = from.Host.Node.Links.Reserve(FrameHeader.Size + 1);
                FrameHeader.Write(frame, FrameType.Propose, 0, 0, 1);
                frame[^1] = 0xFF;
                from.Host.Node.Links.Send(peer, frame.Length);
            });
        }
    }

    private static async Task UntilAsync(Simulation simulation, Func<bool> holds)
    {
        for (int waited = 0; !holds(); waited++)
        {
            Assert.True(waited < 12_000, "The condition did not become true in time.");
            await simulation.Delay(TimeSpan.FromMilliseconds(10));
        }
    }

    private static void Once(LogCollector log, params string[] names)
    {
        foreach (string name in names) Assert.True(log.Entries.Count(entry => entry.Name == name) == 1, $"{name} in: {Text(log)}");
    }

    private static void InOrder(LogCollector log, params string[] names)
    {
        string[] told = [.. log.Entries.Select(static entry => entry.Name)];
        int at = -1;
        foreach (string name in names)
        {
            int found = Array.IndexOf(told, name, at + 1);
            Assert.True(found > at, $"{name} in: {Text(log)}");
            at = found;
        }
    }

    private static string Text(LogCollector log) => string.Join('\n', log.Entries.Select(static entry => $"{entry.Id} {entry.Name}: {entry.Message}"));
}
