using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>How many entries a leader makes of requests that come together (oracle.md#what-comes-together-is-one-entry).</summary>
public sealed class RequestIntakeTests
{
    private ulong _number;

    /// <summary>With an entry for each join, the first one would cause a view change, and those that came during it another one.</summary>
    [Fact]
    public void Joins_that_come_within_20_ms_are_one_entry_and_one_view_change()
    {
        const int Joiners = 9;
        var leader = new LoneLeader(Joiners + 1);
        Ask(leader, 1, new Join("g", new(), 0, ""));
        leader.Bus.Pass(20 * Durations.Millisecond);
        leader.Turn();
        var group = leader.Replica.State.FindGroup("g")!;
        ulong before = LastIndex(leader);
        for (ulong node = 2; node <= Joiners + 1; node++)
        {
            Ask(leader, node, new Join("g", new(), 0, ""));
            leader.Turn();
            leader.Bus.Pass(2 * Durations.Millisecond);
        }
        Assert.Equal(before, LastIndex(leader));
        leader.Bus.Pass(2 * Durations.Millisecond);
        leader.Turn();
        Assert.Equal(before + 1, LastIndex(leader));
        Ask(leader, 1, new ViewCompletion(group.Id, group.View.Id, group.Pending!.Number, [leader.IdOf(1)]));
        leader.Turn();
        Assert.Equal((2UL, Joiners + 1), (group.View.Id, group.View.Members.Count));
        Assert.Null(group.Pending);
    }

    [Theory]
    [InlineData(255, 0)]
    [InlineData(256, 1)]
    [InlineData(257, 2)]
    public void What_waits_goes_at_once_where_it_fills_an_entry(int requests, int entries)
    {
        var leader = new LoneLeader(1);
        ulong before = LastIndex(leader);
        for (int i = 0; i < requests; i++) Ask(leader, 1, new Join($"g{i}", new(), 0, ""));
        leader.Turn();
        Assert.Equal(before + (ulong)entries, LastIndex(leader));
    }

    /// <summary>An entry travels in one frame. With the member lists of many groups it would be larger than a frame may be, and no replica could ever get it.</summary>
    [Fact]
    public void A_group_with_its_whole_list_begins_an_entry()
    {
        var leader = new LoneLeader(1);
        ulong before = LastIndex(leader);
        foreach (string name in (string[])["a", "b", "c"]) Ask(leader, 1, new Create(name, new(), 0, [leader.IdOf(1)]));
        leader.Turn();
        Assert.Equal(before + 3, LastIndex(leader));
    }

    private static ulong LastIndex(LoneLeader leader) => leader.Replica.Log.Entries.LastIndex;

    private void Ask(LoneLeader leader, ulong node, Operation operation) =>
        leader.Replica.Services.OnRequest(0, LogBus.ReplicaOf(node), new(leader.IdOf(node), ++_number, _number, operation));
}
