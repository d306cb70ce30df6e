using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>A key is in use as long as operations or readers need it, whatever ends them. At rest no key is in use, and the next operations take no new queue.</summary>
public sealed class KeysInUseTests
{
    private const int Caller = 1;
    private readonly DhtWorld _world = DhtWorld.Founded(4);

    [Fact]
    public void A_key_is_in_use_until_its_put_is_stable_and_its_queue_serves_the_next_one()
    {
        foreach (string key in new[] { "a0", "b0", "a0" })
        {
            var put = Propose(key, 2);
            Assert.All(Replicas, static replica => Assert.Equal((1, 0, 1), (replica.KeysInUse, replica.FreeQueues, Attached(replica))));
            _world.RunUntil(() => put.IsCompleted, "The put");
            _world.Settle();
            AssertRest(queues: 1);
        }
        Assert.All(Replicas, static replica => Assert.Equal(2, replica.Slice.Table.Count));
    }

    [Fact]
    public void A_read_of_absent_keys_leaves_neither_entries_nor_keys_in_use()
    {
        var get = Map.GetAsync(["a0", "b0", "c0"]).AsTask();
        _world.RunUntil(() => get.IsCompleted, "The read");
        _world.Settle();
        Assert.Equal(3, Replicas.Sum(static replica => replica.FreeQueues));
        Assert.All(Replicas, static replica => Assert.Equal((0, 0), (replica.KeysInUse, replica.Slice.Table.Count)));
    }

    /// <summary>Either all replicas hold the put, and the view change commits it; or one lacks it, and it is dropped with the entry that was made for it.</summary>
    [Theory]
    [InlineData(2)]
    [InlineData(1)]
    public void A_view_change_ends_each_use(int holders)
    {
        var put = Propose("a0", holders);
        Assert.Equal(holders, Replicas.Sum(static replica => replica.KeysInUse));
        _world.ChangeView();
        // The next attempt is under way.
        Assert.All(Replicas, replica => Assert.Equal((0, 0, holders == 2 ? 1 : 0), (replica.KeysInUse, Attached(replica), replica.Slice.Table.Count)));
        Assert.Equal(holders, Replicas.Sum(static replica => replica.FreeQueues));
        _world.RunUntil(() => put.IsCompleted, "The put");
        _world.Settle();
        AssertRest(queues: 1);
        _world.AssertEqualReplicas();
    }

    /// <summary>The members that hold the key have no lease, so a reader waits there, though nothing is queued.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_reader_that_waits_keeps_its_key_in_use_until_it_is_answered_or_the_view_ends(bool ends)
    {
        foreach (int replica in (int[])[0, 2]) _world.Members[replica].Lease = false;
        var get = Map.GetAsync("a0").AsTask();
        _world.Poke();
        _world.DeliverAll();
        Assert.False(get.IsCompleted);
        Assert.Equal((1, 1, 1), (Replicas.Sum(static replica => replica.KeysInUse), Replicas.Sum(Attached), Replicas.Sum(static replica => replica.Slice.Table.Count)));
        // Nothing else is left, and still the judge of a world at rest sees the reader.
        Assert.Equal(0, Replicas.Sum(static replica => replica.Records.Count));
        Assert.Contains("Quiescence", Assert.ThrowsAny<Exception>(_world.Settle).Message);
        if (ends)
        {
            _world.ChangeView();
            Assert.All(Replicas, static replica => Assert.Equal((0, 0, 0), (replica.KeysInUse, Attached(replica), replica.Slice.Table.Count)));
        }
        foreach (int replica in (int[])[0, 2]) _world.Members[replica].Lease = true;
        _world.RunUntil(() => get.IsCompleted, "The read");
        Assert.True(get.IsCompletedSuccessfully);
        _world.Settle();
        Assert.All(Replicas, static replica => Assert.Equal((0, 0), (replica.KeysInUse, replica.Slice.Table.Count)));
    }

    [Fact]
    public void A_member_that_is_over_keeps_no_queue()
    {
        _ = Propose("a0", 2);
        var replica = Replicas[0];
        Assert.Equal(1, replica.KeysInUse);
        _world.Exclude(_world.Members[0]);
        Assert.Equal((0, 0), (replica.KeysInUse, replica.FreeQueues));
    }

    private DhtMap<string, int> Map => _world.Members[Caller].Dht.Map<string, int>("ints");

    /// <summary>The members that hold the keys ending in 0.</summary>
    private Participant[] Replicas => [_world.Members[0].Host.Current!.Participant, _world.Members[2].Host.Current!.Participant];

    /// <summary>A put whose proposal so many replicas have, and whose answers nobody has.</summary>
    private Task<PutResult> Propose(string key, int holders)
    {
        var put = Map.PutAsync(key, 1).AsTask();
        _world.Poke();
        _world.DeliverUntil(Caller, 0, DhtFrame.Propose);
        if (holders == 2) _world.DeliverUntil(Caller, 2, DhtFrame.Propose);
        return put;
    }

    private void AssertRest(int queues) => Assert.All(Replicas, replica => Assert.Equal((0, queues, 0), (replica.KeysInUse, replica.FreeQueues, Attached(replica))));

    private static int Attached(Participant participant)
    {
        int attached = 0;
        var entries = new List<Entry>();
        for (int range = 0; range < EntryTable.Ranges; range++)
        {
            participant.Slice.Table.Collect(range, entries);
            attached += entries.Count(static entry => entry.Queue is not null);
        }
        return attached;
    }
}
