using GroupCore.Membership;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle;
using Oracle.Frames;

namespace Ida.Scenarios;

/// <summary>A process that is no member and tells the nodes of a system anything, one node at a time.</summary>
internal sealed class Stranger : IDisposable
{
    private const string Nowhere = "127.0.0.1:1";
    private const long Patience = 60_000;
    private readonly RawPeer _link;
    private readonly FrameVictim _victim;
    private OracleIs? _oracle;
    private SystemId _system;

    public Stranger(FrameVictim victim, HostileName name, ulong token)
    {
        _victim = victim;
        Id = name.Id;
        _link = new(FrameVictims.Cluster, name.Id, Nowhere, token, OnFrame) { Start = name.Start, Tunnel = name.Tunnel(FrameVictims.Cluster) };
    }

    public ulong Id { get; }

    /// <summary>What the victim answered when it did not take a connection; empty while it does.</summary>
    public string Refusal { get; private set; } = "";

    /// <summary>Whether it takes no answers.</summary>
    public bool IsDeaf
    {
        set => _link.IsDeaf = value;
    }

    /// <summary>Connections that the victim has ended.</summary>
    public int Ended => _link.Ended;

    /// <summary>
    /// Connects, and asks what any node may ask. Null when the victim does not take it. Only a stranger that is <paramref name="registering"/> finds
    /// itself among the nodes that frames are about, so that no other can become a process of the system.
    /// </summary>
    public FrameContext? Learn(FrameVictims system, bool registering)
    {
        if (!IsAnswered()) return null;
        var view = _victim.Group.CurrentView;
        List<Replica> nodes = [.. system.Members.Select(member => new Replica(member.Node.Id.Node, member.Node.Address)), new(system.Former.Id.Node, system.Former.Address)];
        List<ProcessId> processes = [.. system.Members.Select(member => member.Node.Id), system.Former.Id];
        if (registering)
        {
            nodes.Add(new(Id, new(Nowhere)));
            processes.Add(new(Id, 1));
        }
        return new(_system, _oracle!.Replicas, _oracle.Leader, view.Group, view.Id, nodes, processes);
    }

    // A node whose connection breaks before it has its answer dials again, and asks again.
    private bool IsAnswered()
    {
        for (long end = Environment.TickCount64 + Patience; _oracle is null;)
        {
            if (!_link.IsUp && !Again()) return false;
            Ask();
            _link.Flush();
            if (_link.Wait(() => _oracle is not null, Math.Max(0, end - Environment.TickCount64))) return true;
            Refusal = _link.IsUp ? "no answer to its question" : "the connection ends before the answer to its question";
            if (Environment.TickCount64 > end) return false;
        }
        return true;
    }

    /// <summary>Asks what any node may ask; false when the connection does not stand.</summary>
    public bool Ask()
    {
        var ask = new byte[FrameHeader.Size + 4];
        FrameHeader.Write(ask, FrameType.WhoIsOracle, 0, 0, 4);
        (ask[FrameHeader.Size], ask[FrameHeader.Size + 1], ask[FrameHeader.Size + 2], ask[FrameHeader.Size + 3]) = (MessagePackCode.FixArray | 3, 0, 0, MessagePackCode.False);
        _link.Write(ask);
        return _link.IsUp;
    }

    /// <summary>Writes a frame; when the victim must end the connection for it, waits for that and dials again. False when it does not take part any more.</summary>
    public bool Write(HostileFrame frame)
    {
        if (!frame.Breaks)
        {
            for (int i = frame.Mutation == Mutation.Replay ? 3 : 1; i > 0; i--) _link.Write(frame.Bytes);
            return _link.IsUp || Again();
        }
        _link.Flush();
        _link.Write(frame.Bytes);
        _link.Flush();
        // A segment of random bytes may happen to tell the truth; the bytes behind it then do not.
        if (frame.Type == FrameType.Segment) _link.WriteRaw(new byte[FrameHeader.Size]);
        if (_link.WaitForEnd(Patience)) return Again();
        Refusal = "no end of the connection";
        return false;
    }

    /// <summary>Goes on asking until the victim has ended the connection; whether it does. A stranger that takes no answers notices that only by its writes.</summary>
    public bool AskUntilEnd()
    {
        for (long end = Environment.TickCount64 + Patience; Ended == 0 && Environment.TickCount64 < end;)
        {
            Ask();
            _link.Flush();
        }
        return Ended > 0;
    }

    /// <summary>Waits until the victim has read everything.</summary>
    public bool Settle() => _link.Settle();

    public void Dispose() => _link.Dispose();

    // Dials as any node does. If two dials cross, one gives way and is repeated; a node that is not known any more begins anew; and a connection that ends before
    // the answer is dialled again. If a loaded machine holds this thread up between its dial and its Hello, the victim rightly gives up the connection
    // after the time that it leaves a stranger for its Hello.
    private bool Again()
    {
        long end = Environment.TickCount64 + Patience;
        while (true)
        {
            var answer = _link.Connect(_victim.Node.Address);
            if (answer == HelloStatus.Accepted) return true;
            Refusal = answer?.ToString() ?? $"no answer: {_link.Error}";
            if (answer == HelloStatus.Forgotten) _link.BeginAnew();
            else if (answer is not (HelloStatus.Superseded or null)) return false;
            if (Environment.TickCount64 > end) return false;
        }
    }

    private void OnFrame(FrameHeader header, byte[] body)
    {
        if (_oracle is null && header.Type == FrameType.OracleIs && FrameCodec.TryRead(header.Type, body, out var system, out var frame))
            (_system, _oracle) = (system, (OracleIs)frame);
    }
}
