using System.Globalization;
using GroupCore.Diagnostics;
using Ida.Tests.Shared;
using Ida.Wire;
using Microsoft.Extensions.Logging;

namespace Ida.Tests;

/// <summary>What a member's part in a DHT logs about what holds it up.</summary>
public sealed class DhtLogTests
{
    [Fact]
    public async Task Slow_calls_of_resolvers_are_told_once_a_second_with_their_number_and_the_longest()
    {
        long takes = 0;
        var world = new DhtWorld();
        world.Declare = maps => maps.Map<string, long>("longs").OnMerge<long>((_, stored, incoming) =>
        {
            world.Running!.FrozenInTurn += takes;
            return stored + incoming;
        });
        var logs = Found(world);
        takes = 49_000_000;
        await MergeAsync();
        Look();
        Assert.All(logs, static log => Assert.DoesNotContain(log.Entries, static entry => entry.Name == "ResolverSlow"));
        takes = 70_000_000;
        await MergeAsync();
        takes = 60_000_000;
        await MergeAsync();
        Assert.All(logs, static log => Assert.DoesNotContain(log.Entries, static entry => entry.Name == "ResolverSlow"));
        Look();
        Look();
        // Once at each replica of the key.
        var told = logs.SelectMany(static log => log.Entries).Where(static entry => entry.Name == "ResolverSlow").ToList();
        Assert.Equal(2, told.Count);
        Assert.All(told, static entry =>
        {
            Assert.Equal((3109, LogLevel.Warning), (entry.Id, entry.Level));
            Assert.Contains("2 calls took 50 ms or more each, the longest 70 ms, for map longs", entry.Message, StringComparison.Ordinal);
        });

        void Look()
        {
            foreach (var member in world.Members) member.Host.Look(world.Now);
        }

        async Task MergeAsync()
        {
            var merge = world.Members[0].Dht.Map<string, long>("longs").MergeAsync("a0", 1L).AsTask();
            world.RunUntil(() => merge.IsCompleted, "The merge");
            await merge;
            world.Settle();
        }
    }

    [Fact]
    public void A_transfer_that_lasts_is_told_once()
    {
        var world = new DhtWorld();
        Found(world);
        var put = world.Members[0].Dht.Map<string, long>("longs").PutAsync("a0", 1).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        var (newcomer, log) = Add(world);
        world.ChangeView();
        world.Swallows = static (_, _, type) => type == DhtFrame.Chunk || type == DhtFrame.StateEnd;
        newcomer.Enable(world.Options, world.Declare);
        world.ChangeView();
        Assert.False(newcomer.Host.Current!.State.Initialised);
        for (int second = 0; second < 30; second++)
        {
            world.Advance(TimeSpan.FromSeconds(1));
            world.DeliverAll();
            newcomer.Host.Look(world.Now);
            Assert.Equal(second < 9 ? 0 : 1, log.Entries.Count(static entry => entry.Name == "TransferSlow"));
        }
        var told = log.Entries.Single(static entry => entry.Name == "TransferSlow");
        Assert.Equal((3110, LogLevel.Warning), (told.Id, told.Level));
        Assert.Contains("has waited 10 s for the state of shard 0; 0 bytes are here", told.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Operations_that_their_coordinator_does_not_drive_are_logged_by_the_member_that_takes_over()
    {
        var world = new DhtWorld();
        var logs = Found(world);
        // The coordinator hears nothing of what is proposed to it.
        world.Swallows = static (_, to, _) => to == 1;
        var stuck = world.Members[1].Dht.Map<string, long>("longs").PutAsync("a0", 1).AsTask();
        world.Poke();
        world.DeliverAll();
        for (int i = 0; i < 300 && !logs.Exists(static log => log.Entries.Any(static entry => entry.Name == "TakenOver")); i++)
        {
            world.Advance(TimeSpan.FromMilliseconds(20));
            world.DeliverAll();
            foreach (var member in world.Members) member.Host.Look(world.Now);
        }
        Assert.False(stuck.IsCompleted);
        foreach (var (member, log) in world.Members.Zip(logs))
        {
            long taken = member.Host.Current!.Counters.Takeovers;
            Assert.Equal(taken, log.Entries.Where(static entry => entry.Name == "TakenOver").Sum(static entry => int.Parse(entry.Message.Split("took over ")[1].Split(' ')[0], CultureInfo.InvariantCulture)));
        }
        Assert.Contains(world.Members, static member => member.Host.Current!.Counters.Takeovers > 0);
        world.Swallows = null;
    }

    private static List<LogCollector> Found(DhtWorld world)
    {
        var logs = new List<LogCollector>();
        for (int i = 0; i < 4; i++) logs.Add(Add(world).Log);
        world.ChangeView();
        foreach (var member in world.Members) member.Enable(world.Options, world.Declare);
        world.ChangeView();
        return logs;
    }

    // The lines of this member are written at once.
    private static (HarnessMember Member, LogCollector Log) Add(DhtWorld world)
    {
        var (member, log) = (world.Add(), new LogCollector());
        var queue = new LogQueue(log);
        member.Node.Log = new(queue, () => $"m{member.Index}", queue.Write);
        return (member, log);
    }
}
