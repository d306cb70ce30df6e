using System.Globalization;

namespace Ida.Tests;

/// <summary>A put on several members goes through though their links have room only in turns, and does not cost other puts their room.</summary>
public sealed class RoomInTurnsTests
{
    private const long Budget = 20_000;
    private const int AtOnce = 30;

    private readonly DhtWorld _world;
    private readonly DhtMap<string, byte[]> _map;
    private readonly string[] _ends;
    private readonly Task?[,] _single = new Task?[2, AtOnce];
    private readonly int[] _ended = new int[2];
    private int _round;

    public RoomInTurnsTests()
    {
        _world = DhtWorld.Founded(3, options: new() { ShardSize = 1, TargetSize = 3, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        _world.BulkBytes = Budget;
        _map = _world.Members[0].Dht.Map<string, byte[]>("bytes");
        _ends = [.. Enumerable.Range(1, 2).Select(member => Enumerable.Range('0', 10).First(last => last % 3 == _world.Members[member].Host.Current!.State.Shard) - '0').Select(static digit => digit.ToString(CultureInfo.InvariantCulture))];
    }

    [Fact]
    public void R_a_put_on_two_members_goes_beside_puts_on_each_that_fill_its_link_always()
    {
        for (int i = 0; i < 4; i++) Go(stopped: 0);
        for (int i = 0; i < 10; i++)
        {
            var both = Both();
            for (int j = 0; j < 300 && !both.IsCompleted; j++) Go(stopped: 0);
            Assert.True(both.IsCompletedSuccessfully, $"after {_round} rounds, and {_ended[0]} and {_ended[1]} others ended");
        }
        Assert.True(_ended[0] > 50 && _ended[1] > 50);
        Assert.Null(_world.Overfilled);
    }

    /// <summary>At some of these moments a put keeps the room of one member while it waits for the other, which stops.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void R_puts_on_two_members_of_which_one_stops_do_not_stop_those_on_the_other(int stopped)
    {
        for (int rounds = 1; rounds < 16; rounds += 4) new RoomInTurnsTests().Stop(stopped, rounds);
    }

    private void Stop(int stopped, int rounds)
    {
        int other = 2 - stopped;
        for (int i = 0; i < 100; i++) Go(stopped: 0);
        int before = _ended[other];
        List<Task> both = [.. Enumerable.Range(0, 10).Select(_ => Both())];
        for (int i = 0; i < rounds; i++) Go(stopped: 0);
        int then = _ended[other];
        for (int i = 0; i < 2_000; i++) Go(stopped);
        Assert.InRange(_ended[other] - then, before * 12, int.MaxValue);
        for (int i = 0; i < 1_000 && both.Exists(static put => !put.IsCompleted); i++) Go(stopped: 0);
        Assert.All(both, static put => Assert.True(put.IsCompletedSuccessfully));
        Assert.Null(_world.Overfilled);
    }

    private Task Both() => _map.PutAsync(_ends.Select(static end => KeyValuePair.Create("both" + end, (byte[]?)new byte[2_000]))).AsTask();

    /// <summary>Puts on each member always wait. One link moves, then the other.</summary>
    private void Go(int stopped)
    {
        for (int i = 0; i < 2; i++)
        {
            for (int j = 0; j < AtOnce; j++)
            {
                if (_single[i, j] is { IsCompleted: false }) continue;
                _ended[i] += _single[i, j] is { IsCompletedSuccessfully: true } ? 1 : 0;
                _single[i, j] = _map.PutAsync($"{j}_{_ends[i]}", new byte[2_000]).AsTask();
            }
        }
        _world.Poke();
        int to = 1 + (_round++ % 2);
        for (int i = 0; i < 8 && to != stopped; i++) _world.Deliver(0, to);
        _world.DeliverAll(static (from, _) => from != 0);
        _world.Advance(TimeSpan.FromMilliseconds(1));
    }
}
