using System.Runtime.CompilerServices;

namespace Ida.Tests;

/// <summary>What is left of a DHT that ended at a member that stays in the group, or is about to leave it.</summary>
public sealed class EndedDhtTests
{
    /// <summary>When the member was asked whether it may leave the group, it had no DHT. It is not asked again for one that begins now, and nothing would be handed over.</summary>
    [Fact]
    public void R_a_group_that_is_being_left_has_no_dht_any_more()
    {
        var world = DhtWorld.Founded(4);
        var leaver = world.Members[3];
        var closing = leaver.Dht.CloseAsync().AsTask();
        world.RunUntil(() => closing.IsCompleted && !world.ViewRequested, "The end");
        // It remains a member of the group as long as calls of its own wait.
        Assert.True(leaver.Host.OnLeaving());
        var error = Assert.Throws<NotDhtMemberException>(() => leaver.Enable(world.Options, DhtWorld.Maps));
        Assert.Contains("leav", error.Message, StringComparison.Ordinal);
    }

    /// <summary>A command that has not been taken yet stands before the command of the next call.</summary>
    [Fact]
    public async Task R_the_dht_can_be_enabled_again_at_once_when_a_call_was_given_up()
    {
        var world = DhtWorld.Founded(4);
        var late = world.Add();
        world.ChangeView();
        using var cancellation = new CancellationTokenSource();
        var first = Ask(cancellation);
        // Given up before the command is taken.
        if (!first.IsCompleted) world.RunUntil(() => first.IsCompleted, "The end of the call");
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => first);
        var second = Ask(null);
        world.RunUntil(() => second.IsCompleted, "The next call");
        Assert.False((await second).Completion.IsCompleted);

        Task<Dht> Ask(CancellationTokenSource? cancelled)
        {
            var maps = new DhtMaps();
            DhtWorld.Maps(maps);
            var command = new EnableCommand(late.Host, world.Options, maps.Seal(world.Options), 0);
            Assert.True(late.Node.TryPost(command));
            cancelled?.Cancel();
            return GroupDhtExtensions.TakenAsync(command, cancelled?.Token ?? default);
        }
    }

    /// <summary>Until the member enables another DHT, its group knows the one that ended.</summary>
    [Fact]
    public void R_what_operations_left_behind_goes_with_the_dht()
    {
        var world = DhtWorld.Founded(4);
        var member = world.Members[0];
        var driven = Drive(world, member);
        var layer = member.Host.Current!;
        var closing = member.Dht.CloseAsync().AsTask();
        world.RunUntil(() => closing.IsCompleted && !world.ViewRequested, "The end");
        GC.Collect();
        Assert.DoesNotContain(driven, static one => one.IsAlive);
        GC.KeepAlive(layer);
        GC.KeepAlive(world);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static List<WeakReference> Drive(DhtWorld world, HarnessMember member)
    {
        var map = member.Dht.Map<string, long>("longs");
        var puts = Enumerable.Range(0, 50).Select(i => map.PutAsync([KeyValuePair.Create($"{i}_0", 1L), new($"{i}_1", 1L)]).AsTask()).ToList();
        world.Poke();
        var seen = member.Host.Current!.Coordinator.Attempts.All.Values.Select(static one => new WeakReference(one)).ToList();
        for (var op = member.Host.Current.Participant.Records.Oldest; op is not null; op = op.Newer) seen.Add(new(op));
        Assert.Equal(100, seen.Count);
        world.RunUntil(() => puts.TrueForAll(static put => put.IsCompletedSuccessfully), "The puts");
        world.Settle();
        return seen;
    }
}
