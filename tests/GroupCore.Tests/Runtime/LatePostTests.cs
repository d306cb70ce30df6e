using GroupCore.Runtime;
using GroupCore.Tests.Transport;

namespace GroupCore.Tests.Runtime;

/// <summary>A caller that has posted just as the node stopped abandons all that is queued, its own command and those of others.</summary>
public sealed class LatePostTests : IHostPort
{
    private readonly List<ICompletion> _resumed = [];
    private Action _posted = static () => { };

    [Fact]
    public async Task An_error_of_another_command_that_is_abandoned_is_told_to_the_host_and_not_to_the_caller_that_posts()
    {
        var node = new Node(1, 1, this, static _ => null!);
        using var abandons = new ManualResetEventSlim();
        using var goOn = new ManualResetEventSlim();
        // The first command holds the loop up, so the caller gets to the second one before the loop does.
        Assert.True(node.TryPost(new Queued(() =>
        {
            abandons.Set();
            Assert.True(goOn.Wait(TestNode.Patience));
        })));
        Assert.True(node.TryPost(new Queued(static () => throw new InvalidDataException("on purpose"))));
        bool answered = false;
        Task? stop = null;
        _posted = () =>
        {
            stop = Task.Run(() => node.Refuse(new NodeStoppedException("It was stopped.")));
            Assert.True(abandons.Wait(TestNode.Patience));
        };
        Assert.True(node.TryPost(new Queued(() => answered = true)));
        Assert.True(answered);
        goOn.Set();
        // The end of the node reports it too, for programs that do not listen at the host.
        var ended = await Assert.ThrowsAsync<AggregateException>(() => stop!.WaitAsync(TestNode.Patience, TestContext.Current.CancellationToken));
        foreach (var told in new[] { ended, Assert.Throws<AggregateException>(Assert.Single(_resumed).Run) })
            Assert.Equal("on purpose", Assert.IsType<InvalidDataException>(Assert.Single(told.Flatten().InnerExceptions)).Message);
    }

    void IHostPort.Posted(NodeCommand command, bool kept) => _posted();

    long IHostPort.Clock() => 0;

    void IHostPort.Wake()
    {
    }

    void IHostPort.RunCompletions(List<ICompletion> completions)
    {
    }

    void IHostPort.Resume(ICompletion work) => _resumed.Add(work);

    private sealed class Queued(Action abandoned) : NodeCommand
    {
        public override void Run()
        {
        }

        public override void Abandon(Exception reason) => abandoned();
    }
}
