using GroupCore.Membership;
using Ida.Testing;
using Oracle.Client;
using Oracle.Frames;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Which requests a process goes on repeating, and which view completion of a group.</summary>
public sealed class PendingRequestsTests
{
    private static readonly GroupId Group = new(1, 6);
    private static readonly ProcessId A = new(11, 3), B = new(12, 4);

    /// <summary>The leader may change before the newer completion is answered. If it were dropped here, nobody would repeat it. Found by seed 859 of the groups campaign.</summary>
    [Theory]
    [InlineData(7, 41)]
    [InlineData(8, 40)]
    [InlineData(7, 43)]
    public void An_older_view_completion_does_not_take_the_place_of_a_newer_one(ulong view, ulong proposal)
    {
        var book = NewBook(out var simulation);
        using var running = simulation;
        var newer = new ViewCompletion(Group, 8, 42, [A]);
        ulong number = book.Submit(newer);
        Assert.Equal(number, book.Submit(new ViewCompletion(Group, view, proposal, [A])));
        Assert.Same(newer, book.Take(number));
    }

    [Theory]
    [InlineData(8, 43)]
    [InlineData(9, 41)]
    [InlineData(8, 42)]
    public void A_newer_view_completion_or_one_that_says_more_takes_the_place_of_an_older_one(ulong view, ulong proposal)
    {
        var book = NewBook(out var simulation);
        using var running = simulation;
        ulong earlier = book.Submit(new ViewCompletion(Group, 8, 42, [A]));
        var later = new ViewCompletion(Group, view, proposal, [A, B]);
        ulong number = book.Submit(later);
        Assert.Null(book.Take(earlier));
        Assert.Same(later, book.Take(number));
    }

    /// <summary>
    /// Otherwise a process that asks again and again while no leader answers would flood the next leader. The one view that the Oracle then makes serves all callers.
    /// </summary>
    [Fact]
    public void A_view_that_is_asked_for_already_is_not_asked_for_again()
    {
        var book = NewBook(out var simulation);
        using var running = simulation;
        var first = new Renew(Group, 8);
        ulong number = book.Submit(first);
        ulong other = book.Submit(new Renew(new(2, 6), 8)), next = book.Submit(new Renew(Group, 9));
        for (int again = 0; again < 1_000; again++) Assert.Equal((number, other, next), (book.Submit(new Renew(Group, 8)), book.Submit(new Renew(new(2, 6), 8)), book.Submit(new Renew(Group, 9))));
        Assert.Equal(3, new[] { number, other, next }.Distinct().Count());
        Assert.Same(first, book.Take(number));
        // A new question for a view that was answered before waits for its own answer, however many other views are asked for meanwhile.
        ulong later = book.Submit(new Renew(Group, 8));
        Assert.NotEqual(number, later);
        Assert.Equal(later, book.Submit(new Renew(Group, 8)));
        book.Clear();
        Assert.Null(book.Take(later));
        Assert.NotEqual(later, book.Submit(new Renew(Group, 8)));
    }

    /// <summary>The Oracle keeps its answers since the oldest waiting request, so there is room for only as many requests as it keeps answers.</summary>
    [Fact]
    public void There_is_room_for_as_many_requests_since_the_oldest_that_waits_as_the_Oracle_keeps_results()
    {
        var book = NewBook(out var simulation);
        using var running = simulation;
        ulong oldest = book.Submit(new Join("g", new(), 0, ""));
        for (int i = 0; i < 5_000; i++) book.Take(book.Submit(new Renew(Group, 1)));
        Assert.True(book.HasRoom);
        int taken = 1;
        for (; book.HasRoom; taken++)
        {
            Assert.True(taken < 5_000, "without bound");
            book.Take(book.Submit(new Leave(Group)));
        }
        Assert.InRange(taken, 1_000, Limits.RequestsPerProcess);
        book.Take(oldest);
        Assert.True(book.HasRoom);
    }

    /// <summary>
    /// View completions of as many groups as a process may be in, all held back by leases. Before, those with the higher numbers were tried only once, at the leader of that
    /// moment.
    /// </summary>
    [Fact]
    public void Each_request_that_waits_is_repeated_however_many_there_are()
    {
        var book = Waiting(out var world);
        using var running = world.Simulation;
        for (int tick = 0; tick < 40; tick++) world.Pass(book.Step);
        Assert.Equal(Many, world.Sent.Count);
        world.Sent.Clear();
        world.Pass(book.Resend);
        Assert.InRange(world.Sent.Count, 100, 300);
        for (int tick = 0; tick < 20; tick++) world.Pass(book.Step);
        Assert.Equal(Many, world.Sent.Count);
    }

    /// <summary>
    /// A leader may hold a view completion back for as long as a lease lasts, and answers other requests meanwhile. A process that turned elsewhere would be sent back, with
    /// all its waiting requests.
    /// </summary>
    [Fact]
    public void A_view_completion_without_an_answer_is_no_reason_to_doubt_the_leader()
    {
        var book = Waiting(out var world);
        using var running = world.Simulation;
        for (int tick = 0; tick < 40; tick++) world.Pass(book.Step);
        Assert.NotEqual(0UL, world.Directory.Leader.Node);
        book.Submit(new Leave(Group));
        for (int tick = 0; tick < 40 && world.Directory.Leader.Node != 0; tick++) world.Pass(book.Step);
        Assert.Equal(0UL, world.Directory.Leader.Node);
    }

    private const int Many = 4_000;

    private static PendingRequests Waiting(out World world)
    {
        world = new();
        var book = new PendingRequests(world.Node.Node, world.FrameSender, world.Directory) { Self = new(world.Node.Id, 5) };
        for (uint group = 1; group <= Many; group++) book.Submit(new ViewCompletion(new(group, 1), 1, 1, []));
        world.Pass(static () => { });
        world.Sent.Clear();
        return book;
    }

    private static PendingRequests NewBook(out Simulation simulation)
    {
        simulation = new(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var node = simulation.AddNode("p0").Node;
        return new(node, new(node), new(node)) { Self = A };
    }

    /// <summary>A process that takes itself for the leader, so that what it sends there can be seen.</summary>
    private sealed class World
    {
        public World()
        {
            Node = Simulation.AddNode("p0");
            FrameSender = new(Node.Node) { System = new(1, 2) };
            Directory = new(Node.Node);
            Directory.Learn(new([new(Node.Id, Node.Address)], []));
            Directory.Hint(new(Node.Id, Node.Address));
        }

        public Simulation Simulation { get; } = new(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });

        public SimNode Node { get; }

        public FrameSender FrameSender { get; }

        public OracleDirectory Directory { get; }

        /// <summary>Numbers of the requests that were sent.</summary>
        public HashSet<ulong> Sent { get; } = [];

        /// <summary>Lets 100 ms pass, then runs the action in a turn.</summary>
        public void Pass(Action action)
        {
            Simulation.Run(TimeSpan.FromMilliseconds(100));
            Node.Post(action);
            Simulation.Run(TimeSpan.FromMilliseconds(1));
            while (FrameSender.TryTakeOwn(out var type, out byte[] body))
                if (FrameCodec.TryRead(type, body, out _, out var frame) && frame is RequestFrame sent) Sent.Add(sent.Request.Number);
        }
    }
}
