using System.Runtime.CompilerServices;
using GroupCore.Groups;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>A call that enables the DHT: where it runs user code, and what remains of a call that is given up.</summary>
public sealed class EnablingCallTests
{
    private static readonly DhtOptions s_options = new() { ShardSize = 1, TargetSize = 1 };

    /// <summary>The clock is user code: it may take its time, wait for a lock that the caller holds, or call the group.</summary>
    [Fact]
    public void R_the_clock_of_the_options_is_asked_in_the_call_and_in_no_turn() =>
        SimulationRunner.ForEachSeed(1, $"*{nameof(R_the_clock_of_the_options_is_asked_in_the_call_and_in_no_turn)}", run => Run(run.Start(), async group =>
        {
            var clock = new AskedClock();
            var enabling = group.EnableDhtAsync(s_options with { Member = s_options.Member with { Time = clock } }, DhtWorld.Maps);
            Assert.Equal(1, clock.Asked);
            var dht = await enabling;
            await dht.Map<string, int>("ints").PutAsync("a", 1);
            Assert.Equal(1, clock.Asked);
        }));

    [Fact]
    public void R_a_group_that_is_over_before_a_call_that_was_given_up_leaves_no_unobserved_error()
    {
        var unobserved = new List<string>();
        string marker = Guid.NewGuid().ToString();
        EventHandler<UnobservedTaskExceptionEventArgs> note = (_, args) =>
        {
            // Other tests run beside this one.
            if (args.Exception.ToString().Contains(marker, StringComparison.Ordinal)) unobserved.Add(args.Exception.ToString());
        };
        TaskScheduler.UnobservedTaskException += note;
        try
        {
            GiveUp(marker);
            for (int i = 0; i < 2; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }
        finally
        {
            TaskScheduler.UnobservedTaskException -= note;
        }
        Assert.Empty(unobserved);
    }

    /// <summary>In a stack frame of its own, so that nothing refers to the group afterwards.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void GiveUp(string name)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        Run(simulation, async group =>
        {
            await group.LeaveAsync();
            using var cancellation = new CancellationTokenSource();
            // The call is given up while the maps are declared, before anything has been asked of the group.
            await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await group.EnableDhtAsync(s_options, Declare, cancellation.Token));
            await simulation.Delay(TimeSpan.FromMilliseconds(100));

            void Declare(DhtMaps maps)
            {
                DhtWorld.Maps(maps);
                cancellation.Cancel();
            }
        }, name);
    }

    private static void Run(Simulation simulation, Func<Group, Task> body, string name = "shop")
    {
        var cluster = new SimCluster(simulation);
        simulation.RunAsync(async () => await body(await (await cluster.StartAsync()).Node.JoinAsync(name)), TimeSpan.FromMinutes(5));
    }

    private sealed class AskedClock : TimeProvider
    {
        public int Asked { get; private set; }

        public override DateTimeOffset GetUtcNow()
        {
            Asked++;
            return base.GetUtcNow();
        }
    }
}
