using GroupCore.Transport;

namespace GroupCore.Tests.Transport;

/// <summary>What is kept of a node that is asked for at several addresses.</summary>
public sealed class AliasTests
{
    private const string There = "127.0.0.1:5", Elsewhere = "127.0.0.1:6";
    private const ulong Meant = 77;

    /// <summary>A process that runs for years asks at many addresses for nodes that have gone since.</summary>
    [Theory, InlineData(true), InlineData(false)]
    public void Addresses_at_which_a_node_was_reached_are_forgotten_with_its_link(bool held)
    {
        var node = new ScriptedNode();
        int peer = node.Mesh.Open(new(There), Meant);
        node.Mesh.Hold(peer);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        // One that is held no longer is found where it is asked for next.
        if (!held) node.Mesh.Release(peer);
        node.Mesh.Open(new(Elsewhere));
        node.Answers(node.Dials(Elsewhere), HelloStatus.Identified, Meant);
        Assert.Equal((2, 1), (node.Mesh.Addresses, node.Mesh.Live));
        node.Mesh.Close(peer);
        Assert.Equal((0, 0), (node.Mesh.Addresses, node.Mesh.Live));
    }

    /// <summary>Who found no room at one address looks at the link of the other: that may never have been short of any.</summary>
    [Fact]
    public void Who_waits_for_room_at_an_address_hears_of_it_when_the_node_is_known_at_another()
    {
        var node = new ScriptedNode();
        node.Mesh.Open(new(There), Meant);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        int beside = node.Mesh.Open(new(Elsewhere));
        for (uint i = 0; node.Mesh.Room(beside) > 0; i++) node.Send(beside, i, 60_000);
        Assert.Empty(node.Rooms);
        node.Answers(node.Dials(Elsewhere), HelloStatus.Identified, Meant);
        Assert.Contains(beside, node.Rooms);
    }
}
