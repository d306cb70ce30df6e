using GroupCore.Transport.Mesh;

namespace GroupCore.Tests.Transport;

/// <summary>How much is written before something is read again.</summary>
public sealed class TurnOutputTests
{
    private const int Mebi = 1 << 20, Peers = 30;

    /// <summary>
    /// Probes are answered and leases asked for between turns, so a turn is bounded however many links have a burst ready. Links that had to wait go first in the next one.
    /// </summary>
    [Fact]
    public void A_turn_writes_some_MiB_and_leaves_the_rest_to_later_ones_in_turn()
    {
        var node = new ScriptedNode();
        var ends = Queue(node, Peers, frames: 7);
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

    /// <summary>Otherwise links that always have more to say would take each turn, and the others none.</summary>
    [Fact]
    public void Links_that_had_to_wait_in_one_turn_are_first_in_the_next()
    {
        var node = new ScriptedNode();
        var ends = Queue(node, 20, frames: 12);
        node.Mesh.Flush();
        var waiting = ends.FindAll(static end => end.Numbers.Count == 0);
        Assert.InRange(waiting.Count, 1, 10);
        node.Mesh.Flush();
        Assert.All(waiting, static end => Assert.NotEmpty(end.Numbers));
        Assert.True(node.Mesh.HasWork);
    }

    // Links that are up, each with as many frames of 250 kB.
    private static List<ScriptedPort.OtherEnd> Queue(ScriptedNode node, int links, uint frames)
    {
        var ends = new List<ScriptedPort.OtherEnd>();
        var peers = new List<int>();
        for (uint i = 0; i < links; i++)
        {
            string there = $"127.0.0.1:{1_000 + i}";
            peers.Add(node.Mesh.Open(new(there), 1_000 + i));
            ends.Add(node.Dials(there));
            node.Answers(ends[^1], HelloStatus.Accepted, 1_000 + i, 9);
        }
        foreach (int peer in peers)
            for (uint number = 0; number < frames; number++) node.Send(peer, number, 250_000);
        return ends;
    }
}
