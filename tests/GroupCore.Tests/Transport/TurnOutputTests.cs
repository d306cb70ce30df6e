using GroupCore.Transport;

namespace GroupCore.Tests.Transport;

/// <summary>How much is written before something is read again.</summary>
public sealed class TurnOutputTests
{
    private const int Mebi = 1 << 20, Peers = 30;

    /// <summary>However many links have a burst ready: probes are answered and leases asked for between turns. Who had to wait goes first in the next one.</summary>
    [Fact]
    public void A_turn_writes_some_MiB_and_leaves_the_rest_to_later_ones_in_turn()
    {
        var node = new ScriptedNode();
        var ends = new List<ScriptedPort.OtherEnd>();
        var peers = new List<int>();
        for (uint i = 0; i < Peers; i++)
        {
            string there = $"127.0.0.1:{1_000 + i}";
            peers.Add(node.Mesh.Open(new(there), 1_000 + i));
            ends.Add(node.Dials(there));
            node.Answers(ends[^1], HelloStatus.Accepted, 1_000 + i, 9);
        }
        foreach (int peer in peers)
            for (uint number = 0; number < 7; number++) node.Send(peer, number, 250_000);
        long before = Heard();
        for (int turn = 1; turn <= 3; turn++)
        {
            node.Mesh.Poll();
            node.Mesh.Flush();
            Assert.InRange(Heard() - before, turn * 8 * Mebi, turn * 18 * Mebi);
            Assert.True(node.Mesh.HasWork);
        }
        Assert.DoesNotContain(ends, static end => end.Numbers.Count == 0);
        node.Turn();
        Assert.All(ends, static end => Assert.Equal(7, end.Numbers.Count));
        Assert.False(node.Mesh.HasWork);

        long Heard() => ends.Sum(static end => end.Bytes);
    }
}
