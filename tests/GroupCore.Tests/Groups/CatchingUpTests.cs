using GroupCore.Groups;
using GroupCore.Groups.State;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>
/// Slow handlers that make progress event by event, at the giver of the state and at a joiner that catches up with what it held while it loaded: neither counts as slow, within
/// bounds.
/// </summary>
public sealed class CatchingUpTests
{
    private static readonly TimeSpan s_each = TimeSpan.FromMilliseconds(240);
    private static readonly GroupOptions s_evicts = new() { SlowMember = SlowMember.Evict, SlowMemberTimeout = TimeSpan.FromSeconds(5) };

    /// <summary>Two members, and a joiner whose load takes five seconds; one of the three handles slowly, until it hangs.</summary>
    private sealed class Trio : IDisposable
    {
        private readonly TaskCompletionSource _gate = new();
        private int _joined;
        private int _saves;

        public Trio(ulong seed, int slow, int hangsAt = int.MaxValue)
        {
            var simulation = new Simulation(new SimulationOptions { Seed = seed, ReplayCommand = $"seed {seed}" });
            Cluster = new(simulation, 2, options: s_evicts, more: g =>
                {
                    int me = _joined++;
                    g.HandleAsync<byte[]>("slow", async (from, m) =>
                    {
                        if (me == slow) await simulation.Delay(s_each);
                        if (me == slow && Handled == hangsAt) await _gate.Task.ConfigureAwait(false);
                        if (me == slow) Handled++;
                    }).OnError(static error => { });
                },
                tap: node => new DelayingNode(simulation, node, work => TimeSpan.FromSeconds(work is StateCut ? _saves : 0)));
            Assert.True(Cluster.Settle());
            simulation.Run(TimeSpan.FromSeconds(1));
            _saves = 5;
        }

        public GroupCluster Cluster { get; }

        public int Handled { get; private set; }

        public void Send(int messages, int bytes)
        {
            for (int i = 0; i < messages; i++) _ = Cluster.Simulation.Spawn(() => Cluster[1].Group!.SendAsync("slow", new byte[bytes]).AsTask());
        }

        /// <summary>Adds a joiner that holds this much while it loads. Returns when it has begun to catch up, in a view that says that it has the state.</summary>
        public GroupProtocol Join(int messages, int bytes, GroupHostOptions? host = null)
        {
            var comer = Cluster.Add(host: host);
            Assert.True(Cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }], TimeSpan.FromSeconds(5)));
            Cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
            Send(messages, bytes);
            var group = comer.Host.Groups[0];
            Assert.True(Cluster.Simulation.RunUntil(() => group.Phase == GroupPhase.Member && group.View!.Members[group.Rank].Initialised && Cluster.Usable.TrueForAll(m => m.Group!.Protocol.View!.Id == group.View.Id),
                TimeSpan.FromSeconds(20)));
            Assert.True(group.Dispatcher.IsCatchingUp);
            return group;
        }

        public void RequestView() => Cluster.Oracle.RequestView(Cluster.Oracle.Find("g")!.Id);

        public void Dispose()
        {
            Cluster.Simulation.After(TimeSpan.Zero, _gate.SetResult);
            Cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            Cluster.Dispose();
        }
    }

    [Fact]
    public void A_join_waits_for_a_giver_whose_handlers_make_progress_event_by_event()
    {
        using var trio = new Trio(1, slow: 0);
        trio.Send(200, 20);
        trio.Cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        var comer = trio.Cluster.Add(host: new() { JoinTimeout = TimeSpan.FromSeconds(8) });
        Assert.True(trio.Cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(90)));
        Assert.Null(comer.JoinError);
        Assert.Equal(200, trio.Handled);
        Assert.True(trio.Cluster.Settle());
        Assert.Null(trio.Cluster.Verdict());
    }

    [Fact]
    public void A_joiner_that_catches_up_event_by_event_is_not_slow_to_members_whose_windows_wait_for_it()
    {
        using var trio = new Trio(2, slow: 2);
        var group = trio.Join(70, 100_000, new() { MaxJoinBacklogBytes = 4 << 20 });
        trio.Send(40, 100_000);
        trio.Cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        Assert.True(group.Dispatcher.Full);
        Assert.True(trio.Cluster.Simulation.RunUntil(() => !group.Dispatcher.IsCatchingUp, TimeSpan.FromSeconds(40)));
        Assert.Empty(trio.Cluster.Oracle.Suspicions);
        Assert.True(trio.Cluster.Settle(30));
        Assert.Equal(110, trio.Handled);
        Assert.Null(trio.Cluster.Verdict());
    }

    [Fact]
    public void A_joiner_that_catches_up_is_not_slow_to_a_sender_whose_message_waits_behind_what_it_held()
    {
        using var trio = new Trio(3, slow: 2);
        var group = trio.Join(100, 20);
        _ = trio.Cluster.Simulation.Spawn(() => trio.Cluster[1].Group!.SendToAsync(group.Rank, "slow", Array.Empty<byte>()).AsTask());
        trio.Cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        trio.RequestView();
        trio.Cluster.Simulation.Run(TimeSpan.FromSeconds(15));
        Assert.True(group.IsWedged && group.Dispatcher.IsCatchingUp);
        Assert.Empty(trio.Cluster.Oracle.Suspicions);
        Assert.True(trio.Cluster.Settle(30));
        Assert.Equal(101, trio.Handled);
        Assert.Empty(trio.Cluster.Oracle.Suspicions);
        Assert.Null(trio.Cluster.Verdict());
    }

    /// <summary>In the first case the joiner hangs amid what it held. In the second it makes progress, for longer than the five minutes for which the others believe it.</summary>
    [Theory]
    [InlineData(100, 30, 4, 25)]
    [InlineData(1_500, int.MaxValue, 299, 312)]
    public void A_joiner_that_stops_catching_up_or_takes_too_long_is_slow_to_a_sender_whose_message_waits_behind_what_it_held(int messages, int hangsAt, int from, int to)
    {
        using var trio = new Trio(4, slow: 2, hangsAt);
        var group = trio.Join(messages, 20);
        var began = trio.Cluster.Simulation.Now;
        _ = trio.Cluster.Simulation.Spawn(() => trio.Cluster[1].Group!.SendToAsync(group.Rank, "slow", Array.Empty<byte>()).AsTask());
        trio.Cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        trio.RequestView();
        Assert.True(trio.Cluster.Simulation.RunUntil(() => trio.Cluster.Oracle.Suspicions.Count == 2, TimeSpan.FromSeconds(340)), $"{trio.Cluster.Oracle.Suspicions.Count} suspicions");
        Assert.InRange((trio.Cluster.Simulation.Now - began).TotalSeconds, from, to);
        Assert.True(group.IsWedged && group.Dispatcher.IsCatchingUp);
        Assert.All(trio.Cluster.Oracle.Suspicions, a => Assert.Equal((group.Membership.Self, Suspicion.Slow), a));
    }
}
