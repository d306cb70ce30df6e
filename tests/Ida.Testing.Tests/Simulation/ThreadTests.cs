using GroupCore.Runtime;

namespace Ida.Testing.Tests;

/// <summary>What threads do in production, simulated threads do too: callers run turns, and completions come late and side by side.</summary>
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
    public void A_call_is_not_run_at_once_without_the_option_nor_while_the_node_is_in_a_turn_or_held_up()
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
    public void Completions_of_a_life_that_crashed_do_not_come_late()
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

    [Fact]
    public void Completions_of_a_process_that_is_frozen_do_not_begin()
    {
        int held = 0;
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var simulation = new Simulation(new SimulationOptions { Seed = seed, MaxCompletionDelay = TimeSpan.FromMilliseconds(10) });
            var call = new Call(simulation.AddNode());
            simulation.Run(TimeSpan.FromSeconds(1));
            Assert.True(call.Node.TryPost(call));
            Assert.True(simulation.RunUntil(() => call.Ran == 1, TimeSpan.FromSeconds(1)));
            int completed = call.Completed;
            simulation.Nodes[0].Pause(TimeSpan.FromSeconds(5));
            simulation.Run(TimeSpan.FromSeconds(4.9));
            Assert.Equal(completed, call.Completed);
            simulation.Run(TimeSpan.FromSeconds(1));
            Assert.Equal(1, call.Completed);
            held += 1 - completed;
        }
        Assert.InRange(held, 1, 19);
    }

    [Fact]
    public void Completions_keep_their_order_through_a_freeze_that_is_extended()
    {
        for (ulong seed = 1; seed <= 40; seed++)
        {
            using var simulation = new Simulation(new SimulationOptions { Seed = seed, MaxCompletionDelay = TimeSpan.FromMilliseconds(16) });
            var node = simulation.AddNode();
            simulation.Run(TimeSpan.FromSeconds(1));
            var ran = new List<int>();
            node.Post(() =>
            {
                for (int i = 0; i < 8; i++)
                {
                    int place = i;
                    node.Node.Complete(new ActionCompletion(() => ran.Add(place)));
                }
            });
            for (int i = 1; i < 8; i++) simulation.After(TimeSpan.FromMilliseconds(2 * i), () => node.Pause(TimeSpan.FromMilliseconds(3)));
            simulation.Run(TimeSpan.FromMilliseconds(100));
            Assert.Equal(Enumerable.Range(0, 8), ran);
        }
    }

    [Fact]
    public void What_throws_beside_a_call_ends_the_run_and_not_the_call_and_others_begin_all_the_same()
    {
        int beside = 0;
        for (ulong seed = 1; seed <= 100; seed++)
        {
            using var simulation = new Simulation(new SimulationOptions { Seed = seed, BorrowedTurns = 1 });
            var node = simulation.AddNode();
            simulation.Run(TimeSpan.FromSeconds(1));
            bool[] ran = new bool[8];
            Assert.True(node.Node.TryPost(new ActionCommand(() =>
            {
                for (int i = 0; i < ran.Length; i++)
                {
                    int place = i;
                    node.Node.Complete(new ActionCompletion(() =>
                    {
                        ran[place] = true;
                        if (place == 0) throw new InvalidDataException("on purpose");
                    }));
                }
            })));
            if (ran[0] && ran.Count(static one => one) > 1) beside++;
            Assert.IsType<InvalidDataException>(Assert.Throws<SimulationException>(() => simulation.Run(TimeSpan.FromSeconds(1))).InnerException);
        }
        Assert.InRange(beside, 1, 99);
    }

    /// <summary>If a run goes on after a completion threw, the other completions still run, in their order, and so do later ones.</summary>
    [Fact]
    public void Completions_of_a_freeze_begin_though_one_of_them_throws()
    {
        int thrown = 0;
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var simulation = new Simulation(new SimulationOptions { Seed = seed, MaxCompletionDelay = TimeSpan.FromMilliseconds(16) });
            var node = simulation.AddNode();
            simulation.Run(TimeSpan.FromSeconds(1));
            var ran = new List<int>();
            bool asked = false;
            Post(0, 8);
            Assert.True(simulation.RunUntil(() => asked, TimeSpan.FromSeconds(1)));
            node.Pause(TimeSpan.FromSeconds(1));
            int before = ran.Count;
            for (bool goesOn = true; goesOn;)
            {
                try
                {
                    simulation.Run(TimeSpan.FromSeconds(2));
                    goesOn = false;
                }
                catch (SimulationException error) when (error.InnerException is InvalidDataException && before < 8)
                {
                    thrown++;
                }
            }
            Post(8, 10);
            simulation.Run(TimeSpan.FromSeconds(1));
            Assert.Equal(Enumerable.Range(0, 10), ran);

            void Post(int from, int end) => node.Post(() =>
            {
                asked = true;
                for (int i = from; i < end; i++)
                {
                    int place = i;
                    node.Node.Complete(new ActionCompletion(() =>
                    {
                        ran.Add(place);
                        if (node.PausedUntil > 0 && place is > 1 and < 6) throw new InvalidDataException("on purpose");
                    }));
                }
            });
        }
        Assert.True(thrown > 10, $"{thrown} threw");
    }

    [Fact]
    public void No_turn_begins_while_a_caller_has_the_node()
    {
        using var simulation = new Simulation(new SimulationOptions { BorrowedTurns = 1, TurnTime = TimeSpan.FromMilliseconds(1) });
        var node = simulation.AddNode();
        simulation.Run(TimeSpan.FromSeconds(1));
        node.ScheduleTurn();
        var (one, next) = (new Call(node), new Call(node));
        Assert.True(one.Node.TryPost(one));
        Assert.True(next.Node.TryPost(next));
        Assert.Equal((1, 0), (one.Ran, next.Ran));
        simulation.Run(TimeSpan.FromMilliseconds(0.9));
        Assert.Equal(0, next.Ran);
        simulation.Run(TimeSpan.FromMilliseconds(0.2));
        Assert.Equal(1, next.Ran);
    }

    /// <summary>
    /// The owner is not always the first to run when a process resumes. If a caller runs first, its turn has the frames and timers of the freeze still before it.
    /// </summary>
    [Fact]
    public void A_call_of_a_freeze_may_run_before_the_turn_that_it_has_delayed()
    {
        bool[] seen = [false, false];
        for (ulong seed = 1; seed <= 40; seed++)
        {
            using var simulation = new Simulation(new SimulationOptions { Seed = seed, BorrowedTurns = 0.5 });
            var call = new Call(simulation.AddNode());
            simulation.Run(TimeSpan.FromSeconds(1));
            simulation.Nodes[0].Pause(TimeSpan.FromSeconds(2));
            Assert.True(call.Node.TryPost(call));
            simulation.Run(TimeSpan.FromSeconds(3));
            Assert.Equal(1, call.Completed);
            seen[simulation.Threads.BorrowedTurns] = true;
        }
        Assert.Equal([true, true], seen);
    }

    [Fact]
    public void A_command_that_takes_messages_runs_in_a_callers_turn_though_frames_wait_but_not_once_another_has_roused_the_owner()
    {
        using var simulation = new Simulation(new SimulationOptions { BorrowedTurns = 1 });
        var (one, other) = (new Call(simulation.AddNode()), new Call(simulation.AddNode()));
        simulation.Run(TimeSpan.FromSeconds(1));
        simulation.Nodes[0].ScheduleTurn();
        Assert.True(one.Node.TryPost(one));
        Assert.Equal(1, one.Ran);
        simulation.Nodes[1].Rouse();
        Assert.True(other.Node.TryPost(other));
        Assert.Equal(0, other.Ran);
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(1, other.Completed);
    }

    [Fact]
    public void A_turn_of_a_caller_takes_time()
    {
        using var simulation = new Simulation(new SimulationOptions { BorrowedTurns = 1 });
        var node = simulation.AddNode();
        var (one, next) = (new Call(node), new Call(node));
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(one.Node.TryPost(one));
        Assert.True(next.Node.TryPost(next));
        Assert.Equal((1, 0), (one.Ran, next.Ran));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void What_throws_in_a_turn_of_a_caller_is_not_lost_where_the_life_or_the_run_ends_before_the_next(bool crash)
    {
        var simulation = new Simulation(new SimulationOptions { BorrowedTurns = 1 });
        var node = simulation.AddNode();
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(node.Node.TryPost(new ActionCommand(static () => throw new InvalidDataException("on purpose"))));
        var failed = Assert.Throws<SimulationException>(() =>
        {
            if (crash)
            {
                node.Crash();
                simulation.Run(TimeSpan.FromSeconds(1));
            }
            else simulation.Dispose();
        });
        Assert.IsType<InvalidDataException>(failed.InnerException);
        simulation.Dispose();
        Assert.Equal(0, simulation.Leaked);
    }

    [Fact]
    public void A_stop_that_overtakes_the_turn_which_would_end_the_node_tells_what_a_turn_of_a_caller_threw()
    {
        var simulation = new Simulation(new SimulationOptions { BorrowedTurns = 1 });
        var node = simulation.AddNode();
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(node.Node.TryPost(new ActionCommand(static () => throw new InvalidDataException("on purpose"))));
        var call = new Call(node);
        Assert.True(node.Node.TryPost(call));
        node.Stop();
        Assert.IsType<InvalidDataException>(Assert.IsType<NodeFaultedException>(call.Abandoned).InnerException);
        Assert.Throws<SimulationException>(simulation.Dispose);
    }

    private sealed class Call(SimNode node) : NodeCommand, ICompletion
    {
        public INode Node => node.Node;

        public int Ran { get; private set; }

        public int Completed { get; private set; }

        public Exception? Abandoned { get; private set; }

        internal override bool IsKept => true;

        public override void Run()
        {
            Ran++;
            Node.Complete(this);
        }

        public override void Abandon(Exception reason) => Abandoned = reason;

        void ICompletion.Run() => Completed++;
    }
}
