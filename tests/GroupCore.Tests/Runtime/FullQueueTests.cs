using GroupCore.Runtime;

namespace GroupCore.Tests.Runtime;

/// <summary>What happens to callers whose commands find the queue of a node full. The tests run the turns: nothing happens by itself.</summary>
public sealed class FullQueueTests : IHostPort
{
    private const int Capacity = 4;
    private readonly Node _node;
    private readonly List<int> _ran = [];

    public FullQueueTests() => _node = new(1, 1, this, static _ => null!, Capacity);

    [Theory, InlineData(1), InlineData(2), InlineData(3), InlineData(64)]
    public void Commands_of_one_caller_run_in_its_order_whether_it_awaits_them_or_not(int ofTurn)
    {
        int posted = 0;
        for (int turn = 0; turn < 40; turn++)
        {
            for (int i = turn % 3; i < 3; i++) Assert.False(Post(posted++).IsFaulted);
            Turn(ofTurn);
        }
        while (_node.HasCommands) Turn(ofTurn);
        Assert.Equal(Enumerable.Range(0, posted), _ran);
    }

    [Fact]
    public void A_caller_that_waits_for_room_goes_on_as_soon_as_there_is_some()
    {
        var posts = Enumerable.Range(0, Capacity + 3).Select(i => Post(i)).ToArray();
        Assert.Equal([true, true, true, true, false, false, false], posts.Select(post => post.IsCompleted));
        Turn(2);
        Assert.Equal([true, true, false], posts[Capacity..].Select(post => post.IsCompleted));
    }

    [Fact]
    public void A_command_does_not_overtake_those_that_wait()
    {
        var posts = Enumerable.Range(0, Capacity + 3).Select(i => Post(i)).ToArray();
        Turn(2);
        Assert.False(_node.TryPost(new Numbered(this, 99)));
        while (_node.HasCommands) Turn(2);
        Assert.True(_node.TryPost(new Numbered(this, 100)));
        Turn(1);
        Assert.Equal([.. Enumerable.Range(0, posts.Length), 100], _ran);
    }

    [Fact]
    public void A_command_that_is_cancelled_in_the_line_leaves_it_and_is_not_run()
    {
        using var cancelling = new CancellationTokenSource();
        for (int i = 0; i < Capacity; i++) _ = Post(i);
        var cancelled = Enumerable.Range(10, 50).Select(i => Post(i, cancelling.Token)).ToArray();
        var stays = Post(100);
        Assert.Equal(51, _node.CommandsWaiting);
        cancelling.Cancel();
        Assert.All(cancelled, post => Assert.True(post.IsCanceled));
        Assert.Equal(1, _node.CommandsWaiting);
        Turn(64);
        Turn(64);
        Assert.True(stays.IsCompletedSuccessfully);
        Assert.Equal([0, 1, 2, 3, 100], _ran);
    }

    [Fact]
    public void A_token_that_fires_when_the_command_is_taken_comes_too_late()
    {
        using var cancelling = new CancellationTokenSource();
        for (int i = 0; i < Capacity; i++) _ = Post(i);
        var taken = Post(4, cancelling.Token);
        _node.RunCommands(1);
        cancelling.Cancel();
        _node.Release();
        Assert.True(taken.IsCompletedSuccessfully);
        Turn(64);
        Assert.Equal([0, 1, 2, 3, 4], _ran);
    }

    [Fact]
    public void A_caller_that_waits_when_the_node_stops_is_told_why_and_its_command_stays_its_own()
    {
        var posts = Enumerable.Range(0, Capacity + 3).Select(i => Post(i)).ToArray();
        var reason = new NodeStoppedException("on purpose");
        _node.Stop(reason);
        Assert.All(posts[Capacity..], post => Assert.Equal((reason.GetType(), reason.Message), (post.Exception!.InnerException!.GetType(), post.Exception.InnerException.Message)));
        Assert.Distinct(posts[Capacity..].Select(post => post.Exception!.InnerException));
        Assert.Equal([-1, -2, -3, -4], _ran);
        Assert.Equal(0, _node.CommandsWaiting);
        var late = Post(9).Exception!.InnerException!;
        Assert.Equal((reason.GetType(), reason.Message), (late.GetType(), late.Message));
    }

    long IHostPort.Clock() => 0;

    void IHostPort.Wake()
    {
    }

    void IHostPort.RunCompletions(List<ICompletion> completions) => completions.ForEach(completion => completion.Run());

    void IHostPort.Resume(ICompletion work) => work.Run();

    private Task Post(int number, CancellationToken cancellation = default) => _node.PostAsync(new Numbered(this, number), cancellation).AsTask();

    private void Turn(int commands)
    {
        _node.RunCommands(commands);
        _node.Release();
    }

    private sealed class Numbered(FullQueueTests test, int number) : NodeCommand
    {
        public override void Run() => test._ran.Add(number);

        public override void Abandon(Exception reason) => test._ran.Add(-1 - number);
    }
}
