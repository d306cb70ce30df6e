using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Tests.Transport;
using GroupCore.Transport.Mesh;

namespace GroupCore.Tests.Runtime;

/// <summary>How many commands a turn runs, and in which order its steps follow each other.</summary>
public sealed class TurnTests : IHostPort
{
    private const int Most = 256;
    private int _ran;

    public static TheoryData<string> Ports => TcpMeshTests.Ports;

    /// <summary>However many callers have posted, frames and timers wait for no more commands than these.</summary>
    [Theory]
    [InlineData(false, Most)]
    [InlineData(true, 2 * Most)]
    public void A_turn_runs_256_commands_and_with_inline_handlers_as_many_again(bool inline, int most)
    {
        var node = new Node(1, 1, this, static _ => null!);
        if (inline) node.KeepTurns();
        for (int i = 0; i < 3 * Most; i++) Assert.True(node.TryPost(new Counted(this)));
        Turn();
        Assert.Equal(most, _ran);
        Turn();
        Assert.Equal(Math.Min(2 * most, 3 * Most), _ran);

        void Turn()
        {
            node.RunCommands();
            node.EndTurn();
        }
    }

    /// <summary>What the end of a turn sends leaves with the write of that turn. Completions may take any time, so they keep neither waiting.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task Completions_begin_behind_the_end_of_their_turn_and_its_write(string port)
    {
        await using var receiver = new TestNode(Enum.Parse<SocketPortKind>(port));
        await using var sender = new TestNode(Enum.Parse<SocketPortKind>(port));
        var end = new SendsOnce(sender.Node, await sender.Open(receiver.Address));
        await sender.Saw(null, end.Peer);
        // Callers run no turns, which may leave their frames to the next write.
        await sender.Do(static node => node.KeepTurns());
        var begun = new TaskCompletionSource<(bool Sends, bool Waits)>(TaskCreationOptions.RunContinuationsAsynchronously);
        await sender.Do(node =>
        {
            node.AtEndOfTurn(end);
            node.Complete(new ActionCompletion(() => begun.SetResult((end.Sent, ((TcpMesh)node.Links).HasWork))));
        });
        Assert.Equal((true, false), await begun.Task.WaitAsync(TestNode.Patience));
    }

    long IHostPort.Clock() => 0;

    void IHostPort.Wake()
    {
    }

    void IHostPort.RunCompletions(List<ICompletion> completions)
    {
    }

    void IHostPort.Resume(ICompletion work)
    {
    }

    private sealed class Counted(TurnTests test) : NodeCommand
    {
        public override void Run() => test._ran++;

        public override void Abandon(Exception reason)
        {
        }
    }

    /// <summary>Sends a frame at the end of the next turn.</summary>
    private sealed class SendsOnce(INode node, int peer) : ITurnParticipant
    {
        public int Peer => peer;

        public bool Sent { get; private set; }

        public void EndOfTurn()
        {
            if (!Sent) TestNode.Write(node, [peer], 0, 10);
            Sent = true;
        }
    }
}
