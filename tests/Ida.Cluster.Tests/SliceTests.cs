using GroupCore.Membership;
using Ida.Testing.Checking;

namespace Ida.Cluster.Tests;

/// <summary>What members say about themselves under faults is compared with the history: the judge finds each thing that is wrong, and nothing else.</summary>
public sealed class SliceTests
{
    private readonly HistoryRecorder _recorder = new(clock: static () => 0);
    private readonly SeenSlices _seen = new();

    public SliceTests()
    {
        string append = _recorder.Invoke("c0", "m0", HistoryFunctions.Append, ["a"], [HistoryValue.FromString("c0.1")]);
        _recorder.Ok(append, versions: [5]);
        string put = _recorder.Invoke("c0", "m0", HistoryFunctions.Put, ["v"], [HistoryValue.FromString("c0.2.v")]);
        _recorder.Ok(put, versions: [6]);
    }

    [Fact]
    public void A_slice_with_all_that_its_member_told_is_right()
    {
        Add();
        Assert.Null(Wrong());
    }

    [Fact]
    public void A_whole_slice_without_what_its_member_told_is_named()
    {
        Add(lists: new());
        Assert.Contains("as a whole, and without a", Wrong(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_whole_slice_with_an_earlier_version_than_its_member_told_is_named()
    {
        string later = _recorder.Invoke("c0", "m0", HistoryFunctions.Append, ["a"], [HistoryValue.FromString("c0.3")]);
        _recorder.Ok(later, versions: [8]);
        Add();
        Assert.Contains("as a whole, and without a", Wrong(), StringComparison.Ordinal);
    }

    [Fact]
    public void What_was_told_elsewhere_or_later_or_of_another_shard_need_not_be_in_it()
    {
        Add(who: "m1", lists: new());
        Add(asked: 0, lists: new());
        Add(covers: false, lists: new());
        Add(isWhole: false, lists: new());
        Assert.Null(Wrong());
    }

    [Fact]
    public void What_nobody_wrote_is_named()
    {
        Add(lists: new() { ["a"] = (["c0.1", "c9.9"], 5) });
        Assert.Contains("c9.9 in a, which nobody has appended", Wrong(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_version_that_nobody_was_told_is_named()
    {
        Add(values: new() { ["v"] = ("c0.2.v", 7) });
        Assert.Contains("at version 7, and its caller was told 6", Wrong(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_member_that_is_excluded_and_does_not_know_it_is_not_judged()
    {
        Add(lists: new());
        Assert.Null(_seen.Wrong(_recorder.ToHistory(), static _ => false));
    }

    [Fact]
    public void Members_that_know_others_in_the_slots_of_a_view_are_named()
    {
        var (group, other) = (new GroupId(1, 1), new GroupId(2, 2));
        Assert.Null(_seen.Differs("m0", group, Status(1)));
        Assert.Null(_seen.Differs("m1", group, Status(1)));
        Assert.Null(_seen.Differs("m1", group, Status(2) with { View = 8 }));
        Assert.Null(_seen.Differs("m1", other, Status(2)));
        Assert.Null(_seen.Differs("m1", group, Status(2) with { Slots = [] }));
        Assert.Contains("In view 7 m1 knows the slots", _seen.Differs("m1", group, Status(2)), StringComparison.Ordinal);

        static DhtStatus Status(ulong member) => new(7, 0, true, 2, [new(0, 0, 0, new(member, member), true)], []);
    }

    private void Add(string who = "m0", long? asked = null, bool isWhole = true, bool covers = true, Dictionary<string, (List<string>, long)>? lists = null, Dictionary<string, (string, long)>? values = null) =>
        _seen.Add(new SeenSlices.Slice(who, asked ?? _recorder.Now(), isWhole, lists ?? new() { ["a"] = (["c0.1"], 5) }, values ?? new() { ["v"] = ("c0.2.v", 6) }, _ => covers));

    private string? Wrong() => _seen.Wrong(_recorder.ToHistory(), static _ => true);
}
