using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Mesh;

namespace GroupCore.Tests.Transport.Secure;

/// <summary>Who has credentials may say that it is itself, and nobody else; what happens to connections on the way says little about it.</summary>
public sealed class SecureLinkTests
{
    private const ulong Start = 7, Another = 2;
    private static readonly Security s_security = Security.ClusterKey(Security.NewClusterKey());
    private readonly NodeCredentials _own = s_security.Open("c")!, _other = s_security.Open("c")!;

    [Theory]
    [InlineData(Start, 0, true), InlineData(Start, Another, false), InlineData(Start + 1, 0, false)]
    public async Task An_id_that_does_not_belong_to_the_credentials_is_refused(ulong start, ulong change, bool accepted)
    {
        await using var loop = NodeLoop.Start(new() { Cluster = "c", Credentials = _other });
        using var end = new SecureEnd(_own);
        var socket = end.Dial(EndPointText.Parse(loop.Local.Text, "loop"));
        SecureEnd.Until(() => end.Dialled.Count == 1, end);
        end.Send(socket, new HelloFrame("c", HelloFrame.Version, HelloFrame.Version, false, _own.Identity.IdOf(Start) ^ change, 0, HelloFrame.NoName, 0, 0, "127.0.0.1:9", start).ToFrame(), end);
        SecureEnd.Until(() => end.Ended == 1 || end.Came.Length > 0, end);
        Assert.Equal(accepted, end.Came.Length > 0);
        Assert.Equal(accepted ? 0 : 1, loop.Node.Counters.Refused(RefusalReason.WrongSender));
    }

    [Theory]
    [InlineData(Start, 0, true), InlineData(Start, Another, false), InlineData(Start + 1, 0, false)]
    public async Task An_acceptor_under_an_id_that_is_not_its_own_is_refused(ulong start, ulong change, bool accepted)
    {
        using var end = new SecureEnd(_own);
        await using var loop = NodeLoop.Start(new() { Cluster = "c", Credentials = _other }, node => node.Links.Open(new(end.At.ToString())));
        SecureEnd.Until(() => end.Came.Length > 0, end);
        int heard = (int)end.Came.Length;
        end.Send(end.Accepted[0], new HelloAckFrame(HelloStatus.Identified, HelloFrame.Version, _own.Identity.IdOf(Start) ^ change, 0, 0, end.At.ToString(), start).ToFrame(), end);
        // A dialler that believes the answer says a whole Hello on the same connection.
        SecureEnd.Until(() => end.Ended > 0 || end.Came.Length > heard, end);
        Assert.Equal(accepted, end.Came.Length > heard);
        Assert.Equal(accepted ? 0 : 1, loop.Node.Counters.Refused(RefusalReason.WrongSender));
    }

    /// <summary>Somebody on the way leads the dial to another node, which honestly says that it is another one.</summary>
    [Theory]
    [InlineData("127.0.0.1:9", false), InlineData("127.0.0.1:5", true)]
    public void A_node_that_answers_in_the_place_of_another_ends_its_link_only_if_it_listens_there(string listens, bool ends)
    {
        var node = new ScriptedNode();
        node.Port.Identity = new("me");
        node.Mesh.Open(new("127.0.0.1:5"), new NodeIdentity("x").IdOf(Start));
        var end = node.Dials("127.0.0.1:5");
        end.Show(new("y"));
        node.Answers(end, HelloStatus.Replaced, new NodeIdentity("y").IdOf(Start), listen: listens, start: Start);
        Assert.Equal([ends ? LinkFault.Replaced : LinkFault.Unreachable], node.Faults.Select(static one => one.Fault));
        Assert.Equal(ends ? 0 : 1, node.Mesh.Live);
    }

    [Fact]
    public void A_node_that_answers_a_probe_in_the_place_of_another_does_not_end_a_link_that_is_up()
    {
        var (node, x) = (new ScriptedNode(), new NodeIdentity("x").IdOf(Start));
        node.Port.Identity = new("me");
        int peer = node.Mesh.Open(new("127.0.0.1:5"), x);
        var end = node.Dials("127.0.0.1:5");
        end.Show(new("x"));
        node.Answers(end, HelloStatus.Accepted, x, token: 4, listen: "127.0.0.1:5", start: Start);
        Assert.Equal(1, node.Count(null));
        node.Mesh.Probe(peer);
        var probe = node.Dials("127.0.0.1:5");
        probe.Show(new("y"));
        node.Answers(probe, HelloStatus.Replaced, new NodeIdentity("y").IdOf(Start), listen: "127.0.0.1:5", start: Start);
        Assert.Equal([LinkFault.Unreachable], node.Faults.Select(static one => one.Fault));
        Assert.False(end.IsClosed);
    }

    /// <summary>In a flood of strangers that say nothing, and in one of strangers that begin to show who they are, a member is one of the few in the other stage.</summary>
    [Theory]
    [InlineData(true), InlineData(false)]
    public void Of_connections_that_wait_for_their_Hello_one_gives_way_of_which_there_are_more(bool silent)
    {
        const int Places = 64;
        var node = new ScriptedNode();
        node.Port.Identity = new("me");
        var ends = Enumerable.Range(0, Places).Select(_ => node.Port.Come([])).ToList();
        node.Turn();
        foreach (var end in ends) end.Speaks = !silent;
        // A member in the other stage, and one that has shown who it is.
        ends[3].Speaks = silent;
        ends[7].Show(new("x"));
        for (int i = 0; i < 500; i++)
        {
            node.Port.Come([]).Speaks = !silent;
            node.Turn();
        }
        Assert.False(ends[3].IsClosed || ends[7].IsClosed);
        Assert.Equal(500, node.Node.Counters.Refused(RefusalReason.Handshake));
    }
}
