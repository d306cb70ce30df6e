using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>Point-to-point messages to one full receiver wait without holding up others, and end with their tokens.</summary>
public sealed class PeerWaitTests
{
    private readonly TaskCompletionSource _gate = new();
    private readonly List<int> _got = [];
    private readonly List<int> _gotByOthers = [];

    private GroupCluster Settled(ulong seed, int stuck = 1)
    {
        int joined = 0;
        var cluster = new GroupCluster(seed, 3, more: g =>
        {
            int me = joined++;
            g.HandleAsync<int>("stuck", async (from, number) =>
            {
                if (me != stuck)
                {
                    _gotByOthers.Add(number);
                    return;
                }
                if (!_gate.Task.IsCompleted) await _gate.Task.ConfigureAwait(false);
                _got.Add(number);
            }).OnQueryAsync<int, int>("mute", async (from, number) =>
            {
                await _gate.Task.ConfigureAwait(false);
                return QueryAnswer<int>.Of(number);
            }).Handle<Hasty>("hasty", static (from, message) => { });
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static Call Send(GroupCluster cluster, int from, int to, int number, CancellationToken token = default) =>
        Start(cluster, () => cluster[from].Group!.SendToAsync(cluster[to].Group!.Rank, "stuck", number, token).AsTask());

    private static Call Start(GroupCluster cluster, Func<Task> body)
    {
        var call = new Call();
        _ = cluster.Simulation.Spawn(async () =>
        {
            try
            {
                await body().ConfigureAwait(false);
            }
            catch (Exception error) when (error is OperationCanceledException or QueryTimeoutException)
            {
                call.Error = error;
            }
            call.Ended = true;
        });
        return call;
    }

    private sealed class Call
    {
        public bool Ended { get; set; }

        public Exception? Error { get; set; }

        public bool Done => Ended && Error is null;

        public bool Cancelled => Error is OperationCanceledException;
    }

    private static void Fill(GroupCluster cluster, int from, int to)
    {
        for (int i = 0; i < GroupLimits.PeerOutstanding; i++)
        {
            _ = Send(cluster, from, to, i);
            if (i % 500 == 499) cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        }
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
    }

    [Fact]
    public void F12_a_full_receiver_holds_no_message_to_others_up_and_its_own_stay_in_order()
    {
        using var cluster = Settled(1);
        Fill(cluster, 0, 1);
        var waiting = Enumerable.Range(GroupLimits.PeerOutstanding, 20).Select(i => Send(cluster, 0, 1, i)).ToList();
        var other = Send(cluster, 0, 2, 0);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        Assert.True(other.Done);
        Assert.Equal([0], _gotByOthers);
        Assert.All(waiting, call => Assert.False(call.Ended));
        cluster.Simulation.After(TimeSpan.Zero, _gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.All(waiting, call => Assert.True(call.Done));
        Assert.Equal(Enumerable.Range(0, GroupLimits.PeerOutstanding + 20), _got);
    }

    [Fact]
    public void F12_a_message_that_waits_ends_with_its_token_and_is_not_sent()
    {
        using var cluster = Settled(2);
        Fill(cluster, 0, 1);
        using var cancel = new CancellationTokenSource();
        var first = Send(cluster, 0, 1, -1, cancel.Token);
        var second = Send(cluster, 0, 1, -2);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        cluster.Simulation.After(TimeSpan.Zero, cancel.Cancel);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        Assert.True(first.Cancelled);
        Assert.False(second.Ended);
        cluster.Simulation.After(TimeSpan.Zero, _gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.DoesNotContain(-1, _got);
        Assert.Equal(-2, _got[^1]);
    }

    [Fact]
    public void F12_messages_to_oneself_are_bounded_like_those_to_others()
    {
        using var cluster = Settled(3);
        Fill(cluster, 1, 1);
        var waiting = Send(cluster, 1, 1, GroupLimits.PeerOutstanding);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        Assert.False(waiting.Ended);
        cluster.Simulation.After(TimeSpan.Zero, _gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.True(waiting.Done);
        Assert.Equal(Enumerable.Range(0, GroupLimits.PeerOutstanding + 1), _got);
    }

    [Fact]
    public void F12_a_blocked_member_sends_nothing_until_it_has_contact_again()
    {
        using var cluster = Settled(4, stuck: -1);
        cluster[0].Membership.Block(true);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        using var cancel = new CancellationTokenSource();
        var kept = Send(cluster, 0, 2, 1);
        var given = Send(cluster, 0, 2, 2, cancel.Token);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.False(kept.Ended);
        cluster.Simulation.After(TimeSpan.Zero, cancel.Cancel);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.True(given.Cancelled);
        cluster[0].Membership.Block(false);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.True(kept.Done);
    }

    [Fact]
    public void F12_a_query_that_is_given_up_leaves_nothing_open()
    {
        using var cluster = Settled(5);
        using var cancel = new CancellationTokenSource();
        var group = cluster[0].Group!;
        var calls = new List<Call>();
        for (int i = 0; i < 10; i++)
        {
            calls.Add(Start(cluster, () => group.QueryToAsync<int, int>(cluster[1].Group!.Rank, "mute", 1, null, cancel.Token).AsTask()));
            calls.Add(Start(cluster, () => group.QueryAsync<int, int>("mute", 1, Replies.All, null, cancel.Token).AsTask()));
            calls.Add(Start(cluster, () => group.QueryAsync<int, int>("mute", 1, Replies.All, TimeSpan.FromMilliseconds(50)).AsTask()));
        }
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        Assert.Equal(30, group.Protocol.Queries.Count);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        cluster.Simulation.After(TimeSpan.Zero, cancel.Cancel);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        Assert.Equal(0, group.Protocol.Queries.Count);
        Assert.Equal(20, calls.Count(call => call.Cancelled));
        Assert.Equal(10, calls.Count(call => call.Error is QueryTimeoutException));
    }

    /// <summary>A message whose token fires while it is being written, before its call is queued anywhere.</summary>
    private sealed class Hasty
    {
        internal CancellationTokenSource? Cancel { get; init; }

        public int Number
        {
            get
            {
                Cancel?.Cancel();
                return 1;
            }
            set
            {
            }
        }
    }

    [Fact]
    public void R11_a_token_that_fires_before_its_call_is_queued_ends_it()
    {
        using var cluster = Settled(6, stuck: -1);
        cluster[0].Membership.Block(true);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        using var cancel = new CancellationTokenSource();
        var group = cluster[0].Group!;
        var ordered = Start(cluster, () => group.OrderedSendAsync("hasty", new Hasty { Cancel = cancel }, cancel.Token).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.True(ordered.Cancelled);
        using var second = new CancellationTokenSource();
        var peer = Start(cluster, () => group.SendToAsync(cluster[1].Group!.Rank, "hasty", new Hasty { Cancel = second }, second.Token).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.True(peer.Cancelled);
    }
}
