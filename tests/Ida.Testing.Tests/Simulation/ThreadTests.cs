using GroupCore.Runtime;

namespace Ida.Testing.Tests;

/// <summary>What threads do in production and the simulated ones do too: callers run turns, completions come late and side by side.</summary>
public sealed class ThreadTests
{
    [Fact]
    public void A_call_to_a_node_at_rest_is_run_and_completed_before_it_returns()
    {
        using var simulation = new Simulation(new SimulationOptions { BorrowedTurns = 1 });
        var call = new Call(simulation.AddNode());
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(call.Node.TryPost(call));
        Assert.Equal((1, 1), (call.Ran, call.Completed));
    }

    [Fact]
    public void Neither_is_without_the_option_nor_where_the_node_is_in_a_turn_or_held_up()
    {
        using var simulation = new Simulation(1);
        var call = new Call(simulation.AddNode());
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(call.Node.TryPost(call));
        Assert.Equal(0, call.Ran);
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal((1, 1), (call.Ran, call.Completed));

        using var lending = new Simulation(new SimulationOptions { BorrowedTurns = 1 });
        var (paused, nested) = (new Call(lending.AddNode()), new Call(lending.AddNode()));
        lending.Run(TimeSpan.FromSeconds(1));
        lending.Nodes[0].Pause(TimeSpan.FromSeconds(1));
        Assert.True(paused.Node.TryPost(paused));
        int ranInside = -1;
        Assert.True(nested.Node.TryPost(new ActionCommand(() =>
        {
            Assert.True(nested.Node.TryPost(nested));
            ranInside = nested.Ran;
        })));
        Assert.Equal((0, 0), (paused.Ran, ranInside));
        lending.Run(TimeSpan.FromSeconds(2));
        Assert.Equal((1, 1), (paused.Completed, nested.Completed));
    }

    [Fact]
    public void What_throws_in_a_turn_of_a_caller_ends_the_run_and_not_the_call()
    {
        using var simulation = new Simulation(new SimulationOptions { BorrowedTurns = 1 });
        var node = simulation.AddNode();
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(node.Node.TryPost(new ActionCommand(static () => throw new InvalidDataException("on purpose"))));
        var call = new Call(node);
        Assert.True(node.Node.TryPost(call));
        Assert.Equal(0, call.Ran);
        Assert.IsType<InvalidDataException>(Assert.Throws<SimulationException>(() => simulation.Run(TimeSpan.FromSeconds(1))).InnerException);
    }

    [Fact]
    public void Late_completions_begin_in_the_order_of_their_turn_beside_those_of_others()
    {
        bool overlapped = false;
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var simulation = new Simulation(new SimulationOptions { Seed = seed, MaxCompletionDelay = TimeSpan.FromMilliseconds(10) });
            var node = simulation.AddNode();
            simulation.Run(TimeSpan.FromSeconds(1));
            var ran = new List<(int Turn, int Place)>();
            for (int turn = 0; turn < 5; turn++)
            {
                int number = turn;
                simulation.After(TimeSpan.FromMilliseconds(turn), () => node.Post(() =>
                {
                    for (int i = 0; i < 4; i++)
                    {
                        int place = i;
                        node.Node.Complete(new ActionCompletion(() => ran.Add((number, place))));
                    }
                }));
            }
            simulation.Run(TimeSpan.FromMilliseconds(20));
            Assert.Equal(20, ran.Count);
            Assert.All(ran.GroupBy(one => one.Turn), batch => Assert.Equal([0, 1, 2, 3], batch.Select(one => one.Place)));
            overlapped |= !ran.SequenceEqual(ran.OrderBy(one => one.Turn));
        }
        Assert.True(overlapped);
    }

    [Fact]
    public void Of_a_life_that_crashed_no_completion_comes_late()
    {
        int lost = 0;
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var simulation = new Simulation(new SimulationOptions { Seed = seed, MaxCompletionDelay = TimeSpan.FromMilliseconds(10) });
            var call = new Call(simulation.AddNode());
            simulation.Run(TimeSpan.FromSeconds(1));
            Assert.True(call.Node.TryPost(call));
            Assert.True(simulation.RunUntil(() => call.Ran == 1, TimeSpan.FromSeconds(1)));
            int completed = call.Completed;
            simulation.Nodes[0].Crash();
            simulation.Run(TimeSpan.FromSeconds(1));
            Assert.Equal(completed, call.Completed);
            lost += 1 - completed;
        }
        Assert.InRange(lost, 1, 19);
    }

    private sealed class Call(SimNode node) : NodeCommand, ICompletion
    {
        public INode Node => node.Node;

        public int Ran { get; private set; }

        public int Completed { get; private set; }

        internal override bool IsKept => true;

        public override void Run()
        {
            Ran++;
            Node.Complete(this);
        }

        public override void Abandon(Exception reason)
        {
            // Nobody waits for it.
        }

        void ICompletion.Run() => Completed++;
    }
}
