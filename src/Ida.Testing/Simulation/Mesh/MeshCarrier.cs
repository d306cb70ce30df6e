using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Secure;
using GroupCore.Transport.Sockets;

namespace Ida.Testing;

/// <summary>The TCP mesh of production on simulated sockets, with or without the TLS of production over them, driven as the loop of production drives it: sockets first, one gathered write per peer last.</summary>
internal sealed class MeshCarrier : ISimCarrier, IDisposable
{
    private const string Cluster = "sim";
    private readonly TcpMesh _mesh;
    private readonly SecurePort? _secure;

    public MeshCarrier(ISimNode owner, Node node, ulong start)
    {
        Port = new(owner);
        if (owner.Simulation.Options.IsSecure) _secure = new(Port, SimCredentials.Of(owner.Address), Cluster, new HandshakesAtOnce());
        // The names that production uses cannot be guessed, so a run with them could not be repeated.
        var names = new Prng(Choices.Seed(owner.ScheduleSeed, 5, 0));
        var listen = EndPointText.Parse(owner.Address.Text, nameof(owner));
        _mesh = new(node, new(Cluster, (ISocketPort?)_secure ?? Port, listen, null, owner.Simulation.Options.MostQueuedBytes, Start: start, Names: names.NextUInt64), Choices.Seed(owner.ScheduleSeed, 5, 1));
        Links = new MeshLinks(owner, _mesh);
    }

    public ILinks Links { get; }

    public SimSocketPort Port { get; }

    public bool HasWork => _mesh.HasWork || _mesh.HasNews;

    public long NextTimer => _mesh.NextTimer;

    public IEnumerable<LinkUse> Uses => _mesh.Uses;

    public NodeBacklog Backlog => _mesh.Quota;

    public long SlabBytes => _mesh.SlabBytes + (_secure?.SlabBytes ?? 0);

    public int EncodingBytes => _mesh.EncodingBytes;

    public int? Sockets => Port.Open;

    public int Timers => _mesh.Timers;

    /// <summary>How much of each connection is read is drawn by its socket.</summary>
    public int Deliver(int most) => _mesh.Poll();

    public void Flush(long departure)
    {
        Port.Departure = departure;
        _mesh.Flush();
        Port.Departure = long.MinValue;
    }

    public void Die(bool hostAnswers, bool atFrame)
    {
        Port.Die(hostAnswers, atFrame);
        Dispose();
    }

    public void LetGo() => _mesh.LetGo();

    public void CutOff(SimHost other) => Port.CutOff(other);

    public void Break(SimHost other) => Port.Break(other);

    public void Healed(Predicate<SimHost> to) => Port.Healed(to);

    public void Dispose() => _mesh.Dispose();
}
