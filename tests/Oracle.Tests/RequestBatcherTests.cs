using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.Leading;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Requests on their way into the log, and where they are answered (oracle.md#what-comes-together-is-one-entry).</summary>
public sealed class RequestBatcherTests
{
    private static readonly GroupId Group = new(1, 1);
    private readonly LoneLeader _leader = new(1);
    private readonly RequestBatcher _batcher;
    private readonly List<Request> _appended = [];
    private readonly List<Request> _refused = [];

    public RequestBatcherTests() => _batcher = new(_leader.Bus.Parts[1]);

    [Fact]
    public void A_request_that_is_repeated_is_taken_once_and_answered_where_it_came_from_last()
    {
        Assert.True(_batcher.TryBegin(Of(7, 1), peer: 3));
        Assert.False(_batcher.TryBegin(Of(7, 1), peer: 4));
        Assert.Equal(1, _batcher.Waiting);
        Assert.True(_batcher.TryEnd(Of(7, 1), out int peer));
        Assert.Equal(4, peer);
        Assert.False(_batcher.TryEnd(Of(7, 1), out _));
        Assert.True(_batcher.TryBegin(Of(7, 1), peer: 5));
    }

    /// <summary>A registration has no number yet, so its node stands for it.</summary>
    [Fact]
    public void A_registration_is_named_by_its_node()
    {
        Assert.True(_batcher.TryBegin(Registration(7), peer: 3));
        Assert.False(_batcher.TryBegin(Registration(7), peer: 4));
        Assert.True(_batcher.TryBegin(Registration(8), peer: 4));
        Assert.True(_batcher.TryEnd(Registration(7), out int peer));
        Assert.Equal(4, peer);
    }

    [Fact]
    public void A_process_has_as_many_requests_under_way_as_an_honest_one_may_have()
    {
        const int Most = Limits.GroupsPerProcess + Limits.RequestsPerProcess;
        for (ulong number = 1; number <= Most; number++) Assert.True(_batcher.TryBegin(Of(7, number), 3));
        Assert.False(_batcher.TryBegin(Of(7, Most + 1), 3));
        Assert.Equal(1, _leader.Bus.Parts[1].Counters.Refused(RefusalReason.Unexpected));
        Assert.True(_batcher.TryBegin(Of(8, 1), 3));
        _batcher.TryEnd(Of(7, 9), out _);
        Assert.True(_batcher.TryBegin(Of(7, Most + 1), 3));
    }

    [Fact]
    public void What_is_gathered_waits_for_20_ms_from_the_first_on()
    {
        long now = _leader.Bus.Parts[1].Now;
        _batcher.Gather(Of(7, 1));
        _leader.Bus.Pass(5 * Durations.Millisecond);
        _batcher.Gather(Of(7, 2));
        Assert.Equal(now + RequestBatcher.GatherTime, _batcher.Due);
        Assert.True(_batcher.HasWork);
        Append();
        Assert.Empty(_appended);
        _leader.Bus.Pass(15 * Durations.Millisecond);
        ulong entries = Append();
        Assert.Equal((1UL, 2, false), (entries, _appended.Count, _batcher.HasWork));
        Assert.Equal(long.MaxValue, _batcher.Due);
    }

    [Fact]
    public void As_many_as_fill_an_entry_wait_no_longer()
    {
        for (ulong number = 1; number <= 256; number++) _batcher.Gather(Of(7, number));
        Assert.Equal(_leader.Bus.Parts[1].Now, _batcher.Due);
        Assert.Equal((1UL, 256), (Append(), _appended.Count));
    }

    [Fact]
    public void What_need_not_wait_goes_with_the_turn_and_what_is_gathered_stays()
    {
        _batcher.Gather(Of(7, 1));
        _batcher.Add(Of(7, 2));
        Append();
        Assert.Equal(2UL, Assert.Single(_appended).Number);
        Assert.True(_batcher.HasWork);
    }

    /// <summary>An entry travels in one frame, so it must not hold several large requests.</summary>
    [Fact]
    public void Large_requests_begin_an_entry_and_small_ones_follow_them()
    {
        _batcher.Add(Of(7, 1));
        _batcher.Add(new(new(7, 7), 2, 0, new Create("g", new(), 0, [])));
        _batcher.Add(Of(7, 3));
        _batcher.Add(new(new(7, 7), 4, 0, new ViewCompletion(Group, 1, 2, [.. Enumerable.Range(0, 65).Select(static i => new ProcessId((ulong)i, 1))])));
        _batcher.Add(new(new(7, 7), 5, 0, new ViewCompletion(Group, 1, 2, [])));
        Assert.Equal(3UL, Append());
        Assert.Equal([1, 2, 3, 4, 5], _appended.Select(static request => (int)request.Number));
    }

    /// <summary>The senders repeat their requests.</summary>
    [Fact]
    public void What_the_log_refuses_is_told_and_forgotten()
    {
        const int Requests = 8_300;
        for (ulong number = 1; number <= Requests; number++)
        {
            var request = new Request(new(number, 7), number, 0, new Create("g", new(), 0, []));
            _batcher.TryBegin(request, 3);
            _batcher.Add(request);
        }
        Append();
        Assert.Equal(Requests, _appended.Count + _refused.Count);
        Assert.InRange(_refused.Count, 1, Requests - 1);
        Assert.Equal(_appended.Count, _batcher.Waiting);
        Assert.All(_refused, request => Assert.False(_batcher.TryEnd(request, out _)));
    }

    [Fact]
    public void An_earlier_leaderships_requests_are_forgotten()
    {
        _batcher.TryBegin(Of(7, 1), 3);
        _batcher.Gather(Of(7, 1));
        _batcher.Add(Of(7, 2));
        _batcher.Clear();
        Assert.Equal((0, false, long.MaxValue), (_batcher.Waiting, _batcher.HasWork, _batcher.Due));
        Assert.Equal(0UL, Append());
    }

    private static Request Of(ulong process, ulong number) => new(new(process, process), number, 0, new Leave(Group));

    private static Request Registration(ulong node) => new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second));

    /// <summary>Returns the number of entries that were added.</summary>
    private ulong Append()
    {
        ulong before = _leader.Replica.Log.Entries.LastIndex;
        _batcher.Append(_leader.Replica.Log.Leading!, _appended, _refused);
        return _leader.Replica.Log.Entries.LastIndex - before;
    }
}
