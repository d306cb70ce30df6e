using GroupCore.Diagnostics;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;
using Ida.Tests.Shared;

namespace GroupCore.Tests.Transport;

/// <summary>A node that speaks another wire version: the link is refused, and both ends say which versions they speak.</summary>
public sealed class WireVersionTests : IDisposable
{
    private const string There = "127.0.0.1:5";
    private const ulong Other = 50;
    private const byte Own = HelloFrame.Version, Later = Own + 1;
    private readonly ScriptedNode _node = new();
    private readonly LogCollector _log = new();

    public WireVersionTests()
    {
        var queue = new LogQueue(_log);
        _node.Node.Log = new(queue, static () => "here", queue.Write);
    }

    public void Dispose() => _log.Dispose();

    [Theory]
    [InlineData(Later, Later)]
    [InlineData(Later, (byte)(Later + 5))]
    [InlineData((byte)(Own - 1), (byte)(Own - 1))]
    public void A_node_that_dials_in_with_other_versions_is_refused_and_named_with_them(byte least, byte most)
    {
        var end = _node.Come(Hello(least, most));
        Assert.Equal(HelloStatus.WrongVersion, end.Answer);
        Assert.True(HelloAckFrame.TryRead(end.Heard(FrameType.HelloAck)[^1], out var ack));
        Assert.Equal(Own, ack.Version);
        Assert.Empty(_node.News);
        string named = least == most ? $"version {least}" : $"versions {least} to {most}";
        Assert.Equal($"Node here: refused the connection of a node that listens at {There}: it speaks wire {named}; this node speaks version {Own}. At most one line a second.", Line("HandshakeRefused").Message);
    }

    [Fact]
    public void A_node_that_dials_in_with_versions_that_include_this_one_is_taken()
    {
        Assert.Equal(HelloStatus.Accepted, _node.Come(Hello(Own - 1, Later)).Answer);
        Assert.Empty(_log.Entries);
    }

    [Fact]
    public void A_node_that_was_dialled_and_speaks_another_version_is_named_with_it()
    {
        int peer = _node.Mesh.Open(new NodeAddress(There));
        _node.Turn();
        _node.Dials(There).Say(new HelloAckFrame(HelloStatus.WrongVersion, Later, Other, 0, 0, There).ToFrame());
        _node.Turn();
        Assert.Equal((peer, LinkFault.Rejected), _node.News[^1]);
        Assert.Equal($"Node here: {There} refused the connection: it speaks wire version {Later}; this node speaks version {Own}. At most one line a second.", Line("WireVersionDiffers").Message);
    }

    /// <summary>A node that is refused may try again as often as it likes.</summary>
    [Fact]
    public void Each_end_logs_another_version_at_most_once_a_second()
    {
        for (int i = 0; i < 3; i++)
        {
            _node.Come(Hello(Later, Later));
            _node.Mesh.Open(new NodeAddress(There));
            _node.Turn();
            _node.Dials(There).Say(new HelloAckFrame(HelloStatus.WrongVersion, Later, Other, 0, 0, There).ToFrame());
            _node.Turn();
        }
        Assert.Equal(["HandshakeRefused", "WireVersionDiffers"], _log.Entries.Select(static entry => entry.Name));
        _node.Pass(ScriptedNode.Second);
        _node.Come(Hello(Later, Later));
        Assert.Equal(3, _log.Entries.Count);
    }

    private static HelloFrame Hello(byte least, byte most) => new("test", least, most, false, Other, ScriptedNode.Id, 9, 0, 0, There);

    private LogEntry Line(string name)
    {
        var line = Assert.Single(_log.Entries);
        Assert.Equal(name, line.Name);
        return line;
    }
}
