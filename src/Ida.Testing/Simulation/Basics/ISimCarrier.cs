using GroupCore.Transport;
using GroupCore.Transport.Mesh;

namespace Ida.Testing;

/// <summary>What carries frames between one life of a node and the others. The turns of the node drive it.</summary>
internal interface ISimCarrier
{
    /// <summary>What protocols send over.</summary>
    ILinks Links { get; }

    /// <summary>Links that are not over, foreign ones too.</summary>
    IEnumerable<LinkUse> Uses { get; }

    /// <summary>What all links of the node, except foreign ones, count as unacknowledged.</summary>
    NodeBacklog Backlog { get; }

    /// <summary>Bytes of the slabs that it holds for itself alone; 0 where all nodes share them.</summary>
    long SlabBytes { get; }

    /// <summary>Bytes of those slabs that the encoding of frames has.</summary>
    int EncodingBytes { get; }

    /// <summary>Sockets of connections that it has not closed; null where it has none.</summary>
    int? Sockets { get; }

    /// <summary>Its own timers that wait.</summary>
    int Timers { get; }

    /// <summary>Whether a turn would find something to do at once.</summary>
    bool HasWork { get; }

    /// <summary>When a turn is due, by the node's clock; <see cref="long.MaxValue"/> for never.</summary>
    long NextTimer { get; }

    /// <summary>The beginning of a turn: gives the node what has come, about <paramref name="most"/> frames; returns how much that was, news of links included.</summary>
    int Deliver(int most);

    /// <summary>The end of a turn: what there is to say leaves at that time.</summary>
    void Flush(long departure);

    /// <summary>The life ends: with <paramref name="atFrame"/> exactly after what it has sent, otherwise anywhere in what is on its way.</summary>
    void Die(bool hostAnswers, bool atFrame);

    /// <summary>For a life that is over and of which nothing is sent any more: lets go of all slabs. What <see cref="SlabBytes"/> still counts then belongs to nobody.</summary>
    void LetGo();

    /// <summary>A way between here and a host is cut: after some time the kernel on this side gives up connections that are up.</summary>
    void CutOff(SimHost other);

    /// <summary>The connections with a host are reset.</summary>
    void Break(SimHost other);

    /// <summary>The ways from here to some hosts were cut, and are whole again.</summary>
    void Healed(Predicate<SimHost> to);
}
