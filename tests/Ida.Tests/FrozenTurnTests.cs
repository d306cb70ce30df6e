namespace Ida.Tests;

/// <summary>A process is frozen in the middle of a turn, and a call is made later in the same turn. By the time of the turn the call would be late at once.</summary>
public sealed class FrozenTurnTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(5), Freeze = TimeSpan.FromSeconds(60);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void R_a_call_of_a_frozen_turn_has_all_of_its_time(bool put)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4 });
        var member = world.Members[0];
        world.Swallows = static (_, _, _) => true;
        var map = member.Dht.Map<string, int>("ints");
        Task call = null!;
        Frozen(world, member, () => call = put
            ? map.PutAsync([new("a", 1), new("b", 2), new("c", 3), new("d", 4)], new() { Timeout = Limit }).AsTask()
            : map.GetAsync(["a", "b", "c", "d"], new() { Timeout = Limit }).AsTask());
        AssertEndsInTime(world, () => call.IsCompleted);
        Assert.IsAssignableFrom<DhtException>(call.Exception!.InnerException);
    }

    [Fact]
    public void R_enabling_in_a_frozen_turn_has_all_of_its_time()
    {
        var world = new DhtWorld(1) { Options = new() { ShardSize = 2, TargetSize = 4, Member = new() { EnableTimeout = Limit } } };
        var member = world.Add();
        world.ChangeView();
        member.FrozenInTurn = (long)Freeze.TotalNanoseconds;
        member.Enable(world.Options, DhtWorld.Maps);
        Thaw(world, member);
        AssertEndsInTime(world, () => member.Host.Current!.IsOver);
    }

    [Fact]
    public void R_leaving_in_a_frozen_turn_has_all_of_its_time()
    {
        var world = DhtWorld.Founded(3, options: new() { ShardSize = 1, TargetSize = 2, Hash = new LastByteHash(), Member = new() { HandoverTimeout = Limit } });
        var leaver = world.Members[1];
        Frozen(world, leaver, () => _ = leaver.Dht.CloseAsync().AsTask());
        AssertEndsInTime(world, () => leaver.Host.Current!.IsOver);
    }

    private static void Frozen(DhtWorld world, HarnessMember member, Action call)
    {
        member.Turn(() =>
        {
            member.FrozenInTurn = (long)Freeze.TotalNanoseconds;
            call();
        });
        Thaw(world, member);
    }

    private static void Thaw(DhtWorld world, HarnessMember member)
    {
        member.FrozenInTurn = 0;
        world.Advance(Freeze);
    }

    private static void AssertEndsInTime(DhtWorld world, Func<bool> over)
    {
        Assert.False(over());
        world.Advance(Limit * 0.9);
        Assert.False(over());
        world.Advance(Limit * 0.2);
        Assert.True(over());
    }
}
