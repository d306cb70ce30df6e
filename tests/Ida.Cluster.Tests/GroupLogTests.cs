using System.Globalization;
using GroupCore.Groups;
using Ida.Testing;
using Ida.Tests.Shared;
using Microsoft.Extensions.Logging;

namespace Ida.Cluster.Tests;

/// <summary>What a node logs about its groups is true, and whatever it says has begun, it also says has ended.</summary>
public sealed class GroupLogTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(10);

    /// <summary>Handlers may outlast their group, whether the member left it or lost it: the log tells of a slow one until it ends.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_handler_that_hangs_in_a_group_that_is_over_is_told_to_its_end(bool failed) =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_handler_that_hangs_in_a_group_that_is_over_is_told_to_its_end)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var log = new LogCollector();
                var member = await cluster.StartAsync(new() { LoggerFactory = log });
                var group = await member.Node.JoinAsync("shop", g => g.HandleAsync<string>("say", async (_, _) =>
                {
                    await simulation.Delay(TimeSpan.FromSeconds(10));
                    throw new InvalidDataException("late");
                }));
                await group.SendAsync("say", "hello");
                await simulation.Delay(TimeSpan.FromSeconds(1));
                Task? left = null;
                if (failed) member.Host.Post(() => group.Protocol.End(new NotMemberException("shop", "on purpose"), failed: true));
                else left = group.LeaveAsync().AsTask();
                await simulation.Delay(TimeSpan.FromSeconds(6));
                Assert.True(group.Protocol.IsOver);
                Once(log, failed ? "GroupLost" : "GroupLeft", "HandlerSlow");
                Never(log, "HandlerEnded", "UserCodeFailed");
                await simulation.Delay(TimeSpan.FromSeconds(5));
                if (left is not null) await left;
                Once(log, "HandlerSlow", "HandlerEnded", "UserCodeFailed");
                Assert.Equal("late", Find(log, "UserCodeFailed").Exception?.Message);
                Assert.True(await SilentAsync(simulation, log), "The log repeats the line.");
            }, Limit);
        });

    /// <summary>A look once a second tells the log of such things. A node that ends takes a last look, since none would come later.</summary>
    [Fact]
    public void What_came_right_before_the_end_of_a_node_is_told_with_it() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(What_came_right_before_the_end_of_a_node_is_told_with_it)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var log = new LogCollector();
                var member = await cluster.StartAsync(new() { LoggerFactory = log });
                var group = await member.Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, text) => throw new InvalidDataException(text)));
                // In all other tests a forbidden step throws; here it is to be logged.
                member.Host.Node.Counters.ThrowsForbidden = false;
                member.Host.Post(() => member.Host.Node.Counters.Forbid("on purpose"));
                await group.OrderedSendAsync("say", "the last");
                member.Host.Stop();
                await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(1));
                Once(log, "StepForbidden", "UserCodeFailed");
                Assert.Equal("the last", Find(log, "UserCodeFailed").Exception?.Message);
            }, Limit);
        });

    [Fact]
    public void A_view_change_that_ends_with_an_exclusion_is_told_to_its_end() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_view_change_that_ends_with_an_exclusion_is_told_to_its_end)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var (logs, groups) = (new List<LogCollector>(), new List<Group>());
                for (int i = 0; i < 5; i++)
                {
                    logs.Add(new());
                    var member = await cluster.StartAsync(new() { LoggerFactory = logs[i] });
                    groups.Add(await member.Node.JoinAsync("shop", g => g.HandleAsync<string>("say", async (_, _) => await simulation.Delay(TimeSpan.FromSeconds(20)))));
                }
                await UntilAsync(simulation, () => groups.TrueForAll(static group => group.CurrentView.Members.Count == 5 && group.CurrentView.Members.All(static one => one.Initialised)));
                // A view change waits until the messages that members sent one another in the view are handled.
                await groups[4].SendToAsync(groups[4].CurrentView.RankOf(groups[1].Self), "say", "hello");
                await simulation.Delay(TimeSpan.FromSeconds(1));
                int before = logs[4].Entries.Count;
                cluster.Members[3].Host.Crash();
                await UntilAsync(simulation, () => logs[4].Entries.Skip(before).Any(static entry => entry.Name == "FlushBegun"));
                simulation.Network.Partition([.. cluster.Members.Take(3).Select(static member => member.Host)], [cluster.Members[4].Host]);
                await UntilAsync(simulation, () => logs[4].Entries.Any(static entry => entry.Name == "NodeLost"));
                string[] told = [.. logs[4].Entries.Skip(before).Select(static entry => entry.Name)];
                int begun = Array.LastIndexOf(told, "FlushBegun"), ended = Array.IndexOf(told, "FlushEnded"), lost = Array.IndexOf(told, "GroupLost");
                Assert.True(begun < ended && ended < lost, Text(logs[4]));
                Once(logs[4], "GroupLost", "NodeLost");
            }, Limit);
        });

    /// <summary>Two members have the layer "second", one has "other" with some of its frame types. Each logs each layer unlike its own once, in the first view that shows it.</summary>
    [Fact]
    public void A_member_with_another_layer_is_told_once_with_both_names() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_member_with_another_layer_is_told_once_with_both_names)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                LayerFrames[] frames = [ToyLayers.Second, ToyLayers.Second, new("other", ToyLayers.Second.First + 1, 8)];
                var (logs, groups, layers) = (new List<LogCollector>(), new List<Group>(), new List<SetLayer>());
                for (int i = 0; i < frames.Length; i++)
                {
                    var own = frames[i];
                    logs.Add(new());
                    var member = await cluster.StartAsync(new() { LoggerFactory = logs[i], Groups = new() { Layers = [own] } });
                    groups.Add(await member.Node.JoinAsync("shop"));
                    layers.Add(await groups[i].AttachLayerAsync(own, port => new SetLayer(port, own)));
                }
                for (int view = 0; view < 3; view++)
                {
                    ulong before = groups.Max(static group => group.CurrentView.Id);
                    cluster.Members[0].Host.Post(layers[0].Port.RequestView);
                    await UntilAsync(simulation, () => groups.TrueForAll(group => group.CurrentView.Id > before && group.CurrentView.Members.Count == frames.Length));
                }
                await simulation.Delay(TimeSpan.FromSeconds(1));
                for (int i = 0; i < frames.Length; i++)
                {
                    string[] differ = [.. Enumerable.Range(0, frames.Length).Where(other => frames[other] != frames[i])
                        .Select(other => $"Node {AddressOf(i)}: group shop takes no frames of the layer {frames[i]} from {AddressOf(other)}, which has the layer {frames[other]}.")];
                    Assert.Equal(differ.Order(StringComparer.Ordinal), logs[i].Entries.Where(static entry => entry.Name == "LayerDiffers").Select(static entry => entry.Message).Order(StringComparer.Ordinal));
                }
                Assert.All(logs.SelectMany(static log => log.Entries).Where(static entry => entry.Name == "LayerDiffers"), static entry => Assert.Equal((1216, LogLevel.Warning), (entry.Id, entry.Level)));

                string AddressOf(int member) => cluster.Members[member].Node.Address.Text;
            }, Limit);
        });

    [Fact]
    public void A_join_that_is_given_up_is_no_failure() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_join_that_is_given_up_is_no_failure)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var group = await (await cluster.StartAsync()).Node.JoinAsync("shop", g => g.HandleAsync<string>("say", async (_, _) => await simulation.Delay(TimeSpan.FromMinutes(1))));
                var other = await (await cluster.StartAsync()).Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, _) => { }));
                // While its handler runs, no other member comes in.
                await other.SendToAsync(other.CurrentView.RankOf(group.Self), "say", "hello");
                await simulation.Delay(TimeSpan.FromSeconds(1));
                var log = new LogCollector();
                var third = await cluster.StartAsync(new() { LoggerFactory = log });
                var cancelled = third.Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, _) => { })).AsTask();
                await simulation.Delay(TimeSpan.FromSeconds(2));
                Never(log, "GroupLeft");
                // What the cancelled token does, without the thread of the pool that it would take.
                third.Host.Post(() => third.Node.Groups.Single().AbandonJoin());
                await Assert.ThrowsAsync<NotMemberException>(() => cancelled);
                await simulation.Delay(TimeSpan.FromSeconds(1));
                Once(log, "GroupLeft");
                Assert.Contains("cancelled", Find(log, "GroupLeft").Message, StringComparison.Ordinal);
                // The same when the node is stopped while it joins.
                log = new();
                var fourth = await cluster.StartAsync(new() { LoggerFactory = log });
                var pending = fourth.Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, _) => { })).AsTask();
                await simulation.Delay(TimeSpan.FromSeconds(2));
                Never(log, "GroupLeft");
                await fourth.Node.DisposeAsync();
                await Assert.ThrowsAnyAsync<Exception>(() => pending);
                await simulation.Delay(TimeSpan.FromSeconds(1));
                Never(log, "GroupLost");
                Once(log, "GroupLeft", "NodeStopped");
            }, Limit);
        });

    /// <summary>A slow member has a line of its own, and is no error of this member's code.</summary>
    [Fact]
    public void Errors_are_those_of_user_code_and_each_is_counted_once() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(Errors_are_those_of_user_code_and_each_is_counted_once)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var log = new LogCollector();
                var member = await cluster.StartAsync(new() { LoggerFactory = log });
                var group = await member.Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, text) => throw new InvalidDataException(text)));
                for (int i = 0; i < 3; i++) member.Host.Post(() => group.Protocol.ReportSlow(0, "on purpose"));
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(2));
                Assert.Equal(3, log.Entries.Count(static entry => entry.Name == "MemberSlow"));
                Never(log, "UserCodeFailed");
                for (int i = 0; i < 7; i++) await group.OrderedSendAsync("say", $"number {i}");
                member.Host.Post(() => group.Protocol.ReportSlow(0, "on purpose"));
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(3));
                var told = log.Entries.Where(static entry => entry.Name == "UserCodeFailed").ToList();
                Assert.InRange(told.Count, 1, 2);
                Assert.Equal(7, told.Sum(static entry => int.Parse(entry.Message.Split("had ")[1].Split(' ')[0], CultureInfo.InvariantCulture)));
                Assert.Contains("ida.group.errors: 7 ", await member.Node.DescribeAsync(), StringComparison.Ordinal);
            }, Limit);
        });

    /// <summary>Whatever two looks of the log its beginning and its end fall between.</summary>
    [Fact]
    public void A_handler_is_not_said_to_take_longer_than_it_does() =>
        SimulationRunner.ForEachSeed(3, $"*{nameof(A_handler_is_not_said_to_take_longer_than_it_does)}", run =>
        {
            // Clocks are up to a hundredth wrong.
            const double Wrong = 0.98;
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                TimeSpan begun = default, slow = default;
                var log = new LogCollector(id => slow = id.Name == "HandlerSlow" ? simulation.Now : slow);
                var member = await cluster.StartAsync(new() { LoggerFactory = log });
                var group = await member.Node.JoinAsync("shop", g => g.HandleAsync<string>("say", async (_, _) =>
                {
                    begun = simulation.Now;
                    await simulation.Delay(TimeSpan.FromSeconds(5.5));
                }));
                for (int i = 0; i < 10; i++)
                {
                    await group.SendAsync("say", "hello");
                    await simulation.Delay(TimeSpan.FromSeconds(8));
                    Assert.Equal(i + 1, log.Entries.Count(static entry => entry.Name == "HandlerEnded"));
                    Assert.InRange(slow - begun, TimeSpan.FromSeconds(2 * Wrong), TimeSpan.FromSeconds(3.2));
                    await simulation.Delay(TimeSpan.FromSeconds(0.1));
                }
                Assert.All(log.Entries.Where(static entry => entry.Name == "HandlerSlow"), static entry => Assert.Matches("for 2 s or more, and 0 events", entry.Message));
                Assert.All(log.Entries.Where(static entry => entry.Name == "HandlerEnded"), static entry => Assert.Matches("took [45] s or more", entry.Message));
            }, Limit);
        });

    /// <summary>A logger that throws does not change the run, and its node still ends within its bound.</summary>
    [Fact]
    public void A_logger_that_throws_changes_nothing() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(A_logger_that_throws_changes_nothing)}", run =>
        {
            string told = Tell(run.Seed, throws: false), thrown = Tell(run.Seed, throws: true);
            Assert.Equal(told, thrown);
            Assert.Contains("NodeStopped", told, StringComparison.Ordinal);
        });

    private static string Tell(ulong seed, bool throws)
    {
        var cluster = new SimCluster(new(new SimulationOptions { Seed = seed }));
        var simulation = cluster.Simulation;
        return simulation.RunAsync(async () =>
        {
            var log = new LogCollector(_ =>
            {
                if (throws) throw new InvalidOperationException("on purpose");
            });
            for (int i = 0; i < 3; i++)
            {
                var group = await (await cluster.StartAsync(new() { LoggerFactory = log })).Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, _) => { }));
                await group.OrderedSendAsync("say", "hello");
            }
            cluster.Members[2].Host.Crash();
            await simulation.Delay(TimeSpan.FromSeconds(5));
            var from = simulation.Now;
            await cluster.Members[1].Node.DisposeAsync();
            Assert.InRange(simulation.Now - from, TimeSpan.Zero, TimeSpan.FromSeconds(5));
            await simulation.Delay(TimeSpan.FromSeconds(1));
            return $"{simulation.TraceHash:x16}\n{Text(log)}";
        }, Limit);
    }

    private static async Task<bool> SilentAsync(Simulation simulation, LogCollector log)
    {
        int before = log.Entries.Count;
        await simulation.Delay(TimeSpan.FromSeconds(5));
        return log.Entries.Count == before;
    }

    private static async Task UntilAsync(Simulation simulation, Func<bool> holds)
    {
        for (int waited = 0; !holds(); waited++)
        {
            Assert.True(waited < 12_000, "The condition did not become true in time.");
            await simulation.Delay(TimeSpan.FromMilliseconds(10));
        }
    }

    private static LogEntry Find(LogCollector log, string name) => log.Entries.Single(entry => entry.Name == name);

    private static void Once(LogCollector log, params string[] names)
    {
        foreach (string name in names) Assert.True(log.Entries.Count(entry => entry.Name == name) == 1, $"{name} in: {Text(log)}");
    }

    private static void Never(LogCollector log, params string[] names)
    {
        foreach (string name in names) Assert.True(log.Entries.All(entry => entry.Name != name), $"{name} in: {Text(log)}");
    }

    private static string Text(LogCollector log) => string.Join('\n', log.Entries.Select(static entry => $"{entry.Id} {entry.Name}: {entry.Message}"));
}
