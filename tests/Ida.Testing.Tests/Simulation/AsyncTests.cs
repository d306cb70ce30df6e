using GroupCore.Runtime;

namespace Ida.Testing.Tests;

public sealed class AsyncTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    /// <summary>A call to a node as the library makes it: a command that runs in a turn and completes outside of the loop.</summary>
    private static async Task<long> Call(SimNode node)
    {
        var call = new CallCommand(node.Node);
        await node.Node.PostAsync(call).ConfigureAwait(false);
        return await call.Result.ConfigureAwait(false);
    }

    [Fact]
    public void Code_resumes_in_virtual_time_and_returns_its_result()
    {
        using var simulation = new Simulation(1);
        var result = simulation.RunAsync(
            async () =>
            {
                await simulation.Delay(Second);
                await Task.Delay(Second, simulation.TimeProvider);
                await Task.Yield();
                return simulation.Now;
            },
            3 * Second);
        Assert.Equal(2 * Second, result);
    }

    [Fact]
    public void Two_runs_of_concurrent_code_are_the_same()
    {
        Assert.Equal(Once(1), Once(1));
        Assert.NotEqual(Once(1), Once(2));

        static (ulong, string) Once(ulong seed)
        {
            using var simulation = new Simulation(seed);
            var nodes = Enumerable.Range(0, 3).Select(_ => simulation.AddNode()).ToList();
            var log = new List<string>();
            async Task Client(int client)
            {
                for (int i = 0; i < 20; i++)
                {
                    await simulation.Delay(TimeSpan.FromMicroseconds(simulation.Random.Next(500)));
                    await Call(nodes[(client + i) % 3]);
                    log.Add($"{client}:{i}@{simulation.Now.Ticks}");
                }
            }
            simulation.RunAsync(() => Task.WhenAll(Enumerable.Range(0, 8).Select(Client)), 10 * Second);
            return (simulation.TraceHash, string.Join(' ', log));
        }
    }

    [Fact]
    public void Callers_that_wait_for_room_in_the_command_queue_go_on_in_the_simulation()
    {
        using var simulation = new Simulation(3);
        var node = simulation.AddNode();
        var results = simulation.RunAsync(() => Task.WhenAll(Enumerable.Range(0, 20_000).Select(_ => Call(node))), 10 * Second);
        Assert.Equal(20_000, results.Length);
    }

    [Fact]
    public void Code_that_never_ends_is_reported_with_the_seed()
    {
        using var simulation = new Simulation(4);
        var thrown = Assert.Throws<SimulationException>(() => simulation.RunAsync(() => new TaskCompletionSource().Task, Second));
        Assert.Contains("Seed 4", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void What_the_code_throws_reaches_the_caller()
    {
        using var simulation = new Simulation(5);
        Assert.Throws<DivideByZeroException>(() => simulation.RunAsync(
            async () =>
            {
                await simulation.Delay(Second);
                throw new DivideByZeroException();
            },
            2 * Second));
    }

    [Fact]
    public void Spawned_code_goes_on_in_later_steps_and_its_failure_ends_the_run()
    {
        using var simulation = new Simulation(6);
        int ticks = 0;
        _ = simulation.Spawn(async () =>
        {
            for (; ticks < 3; ticks++) await simulation.Delay(Second);
            throw new DivideByZeroException();
        });
        simulation.Run(2.5 * Second);
        Assert.Equal(2, ticks);
        Assert.IsType<DivideByZeroException>(Assert.Throws<SimulationException>(() => simulation.Run(Second)).InnerException);
    }

    [Fact]
    public void A_call_from_another_thread_fails_the_run()
    {
        using var simulation = new Simulation(7);
        var node = simulation.AddNode();
        var foreign = new Thread(() => node.Post(() => { }));
        foreign.Start();
        foreign.Join();
        var thrown = Assert.Throws<SimulationException>(() => simulation.Run(Second));
        Assert.Contains("another thread", thrown.Message, StringComparison.Ordinal);
    }

    private sealed class CallCommand(INode node) : NodeCommand, ICompletion
    {
        private readonly TaskCompletionSource<long> _done = new();

        public Task<long> Result => _done.Task;

        void ICompletion.Run() => _done.SetResult(node.Now);

        public override void Run() => node.Complete(this);

        public override void Abandon(Exception reason) => _done.SetException(reason);
    }
}
