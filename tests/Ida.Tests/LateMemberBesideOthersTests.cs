using Ida.Coordination;

namespace Ida.Tests;

/// <summary>Operations that wait for a member that hears of a view late cost operations on other shards nothing, and stay within the bounds of what may wait.</summary>
public sealed class LateMemberBesideOthersTests
{
    private const int Caller = 0, Near = 2, Places = 16, MostWaiting = 16 * Places;
    private const long Budget = 20_000, MostBytes = 1 << 20;

    private readonly DhtWorld _world;
    private readonly int _late;
    private readonly string _there, _elsewhere;
    private readonly List<Task> _waiting = [], _others = [];
    private readonly List<int> _ended = [];

    public LateMemberBesideOthersTests()
    {
        _world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = Places, MaxInFlightBytes = MostBytes } });
        _world.LateViews = true;
        _world.BulkBytes = Budget;
        var own = _world.Members[Caller].Host.Current!.State;
        Assert.Equal(own.Shard, _world.Members[Near].Host.Current!.State.Shard);
        _late = _world.Members.First(m => m.Host.Current!.State.Shard != own.Shard).Index;
        (_elsewhere, _there) = own.Shard == 0 ? ("0", "1") : ("1", "0");
    }

    private Coordinator Coordinator => _world.Members[Caller].Host.Current!.Coordinator;

    [Theory]
    [InlineData(2_000, 10)]
    [InlineData(2_000, 9_000)]
    [InlineData(200, 1_000)]
    public void R_operations_on_other_shards_go_on_while_a_member_is_late_and_when_it_comes(int puts, int bytes)
    {
        _world.ChangeView();
        for (int i = 0; i < puts; i++)
        {
            Put(bytes);
            if (i % 20 == 0) GoOn(comes: false);
        }
        Assert.DoesNotContain(_waiting, static put => put.IsCompletedSuccessfully);
        // Some may wait, and more than have a place.
        Assert.True(_waiting.Count(static put => !put.IsCompleted) > Math.Min(puts, Math.Min(MostWaiting / 2, MostBytes / 2 / bytes)) - 10);
        for (int i = 0; i < 2_000 && (i < 50 || _waiting.Exists(static put => !put.IsCompleted)); i++) GoOn(comes: true);
        AssertEnded();
    }

    /// <summary>As many as may wait are waiting for a place, and all that have one begin again in the view.</summary>
    [Fact]
    public void R_operations_on_other_shards_that_wait_for_a_place_are_not_held_up_by_those_for_a_late_member()
    {
        for (int i = 0; i < MostWaiting; i++)
        {
            Put(1_000);
            if (i % 2 == 0) Other(1_000);
        }
        _world.Poke();
        _world.ChangeView();
        for (int i = 0; i < 100; i++) Step(comes: false);
        Assert.All(_others, static put => Assert.True(put.IsCompleted));
        Assert.Contains(_others, static put => put.IsCompletedSuccessfully);
        _others.Clear();
        for (int i = 0; i < 200; i++) GoOn(comes: false);
        Assert.DoesNotContain(_waiting, static put => put.IsCompletedSuccessfully);
        for (int i = 0; i < 2_000 && _waiting.Exists(static put => !put.IsCompleted); i++) GoOn(comes: true);
        AssertEnded();
    }

    /// <summary>Neither what a put acknowledges nor whether one may begin is searched for among the waiting reads.</summary>
    [Fact]
    public void R_reads_that_wait_for_a_late_member_cost_puts_on_other_shards_nothing()
    {
        const int Reads = 150, Puts = 50;
        _world.ChangeView();
        _world.DeliverAll((from, _) => from != _late);
        var map = _world.Members[Caller].Dht.Map<string, byte[]>("bytes");
        // One of the two members of the shard is late.
        var reads = Enumerable.Range(0, 2 * Reads).Select(i => map.GetAsync($"{i}_{_there}").AsTask()).ToList();
        Step(comes: false);
        Assert.True(Coordinator.Standing().Count(static one => one.Op.IsParked) > 50);
        Coordinator.Puts.Window = 1;
        long before = Coordinator.Puts.HoldLooks;
        for (int i = 0; i < Puts; i++)
        {
            Other(100);
            Step(comes: false);
        }
        Assert.All(_others, static put => Assert.True(put.IsCompletedSuccessfully));
        Assert.InRange(Coordinator.Puts.HoldLooks - before, 0, (3 * Reads) + (8 * Puts));
        _world.RunUntil(() => reads.TrueForAll(static read => read.IsCompleted), "The reads");
    }

    private void Put(int bytes)
    {
        int number = _waiting.Count;
        var put = _world.Members[Caller].Dht.Map<string, byte[]>("bytes").PutAsync($"{number % 7}{_there}", new byte[bytes]).AsTask();
        _waiting.Add(put);
        _ = put.ContinueWith(ended => _ended.Add(ended.IsCompletedSuccessfully ? number : -1), TaskContinuationOptions.ExecuteSynchronously);
    }

    private void Other(int bytes) => _others.Add(_world.Members[Caller].Dht.Map<string, byte[]>("bytes").PutAsync($"{_others.Count % 7}{_elsewhere}", new byte[bytes]).AsTask());

    /// <summary>A millisecond with a few other calls, one of which fills its link.</summary>
    private void GoOn(bool comes)
    {
        for (int i = 0; i < 4; i++) Other(i == 1 ? (int)Budget : 100);
        Step(comes);
    }

    private void Step(bool comes)
    {
        _world.Poke();
        Look();
        _world.DeliverAll((from, to) => from != _late || comes);
        Look();
        _world.Advance(TimeSpan.FromMilliseconds(1));
    }

    private void Look()
    {
        var waiting = Coordinator.Standing().Where(static one => one.Op.IsParked || one.Place == OperationPhase.Waiting).ToList();
        Assert.InRange(waiting.Count, 0, MostWaiting);
        Assert.InRange(waiting.Sum(static one => (long)one.Op.AskedBytes), 0, MostBytes);
    }

    private void AssertEnded()
    {
        _world.RunUntil(() => _others.TrueForAll(static put => put.IsCompleted), "Puts on other shards");
        Assert.Null(_world.Overfilled);
        Assert.All(_others, static put => Assert.True(put.IsCompletedSuccessfully, put.Exception?.InnerException?.Message ?? "not ended"));
        Assert.All(_waiting, static put => Assert.True(put.IsCompletedSuccessfully || put.Exception?.InnerException is OverloadedException, put.Exception?.InnerException?.Message ?? "not ended"));
        Assert.All(_waiting.Where(static put => put.IsFaulted), static put => Assert.InRange(((OverloadedException)put.Exception!.InnerException!).RetryAfter, TimeSpan.FromMilliseconds(1), TimeSpan.FromSeconds(1)));
        var done = _ended.Where(static number => number >= 0).ToList();
        Assert.Equal(done.Order(), done);
    }
}
