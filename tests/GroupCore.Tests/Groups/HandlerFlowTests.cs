using System.Globalization;
using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>Only a handler's own code counts as inside it, not code that it starts in parallel nor code that runs after it.</summary>
public sealed class HandlerFlowTests
{
    private static GroupCluster Settled(ulong seed, Action<GroupBuilder> more)
    {
        var cluster = new GroupCluster(seed, 2, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    /// <summary>Whether the group counts the calling code as inside a handler of its own.</summary>
    private static bool IsInside(GroupCluster cluster, int member) => cluster[member].Group!.Protocol.Upcalls.IsCurrent;

    [Fact]
    public void F14_code_that_a_synchronous_handler_starts_beside_itself_is_not_inside_it()
    {
        GroupCluster? all = null;
        bool? inside = null, beside = null;
        int joined = 0;
        using var cluster = Settled(1, g =>
        {
            int me = joined++;
            g.Handle<byte[]>("start", (from, m) =>
            {
                if (me != 0) return;
                inside = IsInside(all!, 0);
                // On another thread, with the context of the handler, while it runs.
                var thread = new Thread(() => beside = IsInside(all!, 0));
                thread.Start();
                thread.Join();
            });
        });
        all = cluster;
        _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendAsync("start", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal((true, false), (inside, beside));
    }

    /// <summary>Whether the next handler runs in the same batch is chance, so it would see what an earlier one left behind only now and then.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void What_a_handler_makes_of_its_context_is_not_the_next_ones(bool awaited)
    {
        var own = new AsyncLocal<string?>();
        var place = new SynchronizationContext();
        var seen = new List<(string? Own, CultureInfo Culture, bool Suppressed, bool Placed)>();
        int errors = 0;
        void Handle()
        {
            seen.Add((own.Value, CultureInfo.CurrentCulture, ExecutionContext.IsFlowSuppressed(), ReferenceEquals(SynchronizationContext.Current, place)));
            // An object of a user interface may do this by itself; code that awaits behind it would then go on there.
            SynchronizationContext.SetSynchronizationContext(place);
            own.Value = "mine";
            CultureInfo.CurrentCulture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
            if (!awaited) ExecutionContext.SuppressFlow();
        }

        using var cluster = Settled(9, g =>
        {
            g.OnError(_ => errors++);
            if (awaited)
            {
                g.HandleAsync<int>("say", (_, _) =>
                {
                    Handle();
                    return default;
                });
            }
            else
            {
                g.Handle<int>("say", (_, _) => Handle());
            }
        });
        var culture = CultureInfo.CurrentCulture;
        _ = cluster.Simulation.Spawn(async () =>
        {
            for (int i = 0; i < 5; i++) await cluster[1].Group!.SendAsync("say", i);
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(10, seen.Count);
        Assert.All(seen, one => Assert.True(one.Own is null && ReferenceEquals(one.Culture, culture) && !one.Suppressed && !one.Placed, $"{one}"));
        Assert.Same(culture, CultureInfo.CurrentCulture);
        Assert.Equal(0, errors);
    }

    [Fact]
    public void F14_an_awaited_handler_is_inside_itself_until_it_has_ended()
    {
        GroupCluster? all = null;
        var gate = new TaskCompletionSource();
        var later = new TaskCompletionSource();
        bool? before = null, after = null, outlived = null, next = null;
        int joined = 0;
        async Task OutliveAsync()
        {
            await later.Task.ConfigureAwait(false);
            outlived = IsInside(all!, 0);
        }

        using var cluster = Settled(2, g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("wait", async (from, m) =>
            {
                if (me != 0) return;
                before = IsInside(all!, 0);
                _ = OutliveAsync();
                await gate.Task.ConfigureAwait(false);
                after = IsInside(all!, 0);
            }).Handle<byte[]>("next", (from, m) => next ??= me == 0 ? IsInside(all!, 0) : null);
        });
        all = cluster;
        _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendAsync("wait", Array.Empty<byte>()).AsTask());
        _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendAsync("next", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster.Simulation.After(TimeSpan.Zero, later.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal((true, true, true, false), (before, after, next, outlived));
    }

    /// <summary>The code that ends a handler's wait may hold a lock or be a handler of another group. Only the waiting handler may go on there, not those behind it.</summary>
    [Fact]
    public void Handlers_behind_one_that_waits_do_not_run_where_its_wait_is_ended()
    {
        var gate = new TaskCompletionSource();
        bool isSetting = false;
        List<bool> next = [];
        int joined = 0;
        using var cluster = Settled(2, g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("wait", async (from, m) =>
            {
                if (me == 0) await gate.Task.ConfigureAwait(false);
            }).Handle<byte[]>("next", (from, m) =>
            {
                if (me == 0) next.Add(isSetting);
            });
        });
        _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendAsync("wait", Array.Empty<byte>()).AsTask());
        for (int i = 0; i < 3; i++) _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendAsync("next", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Empty(next);
        cluster.Simulation.After(TimeSpan.Zero, () =>
        {
            isSetting = true;
            gate.SetResult();
            isSetting = false;
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal([false, false, false], next);
    }
}
