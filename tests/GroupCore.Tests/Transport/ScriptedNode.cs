using System.Net;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>A node whose clock and whose sockets belong to the test (<see cref="ScriptedPort"/>), with what its users hear.</summary>
internal sealed class ScriptedNode : IFrameHandler, ILinkObserver
{
    public const long Second = 1_000_000_000;

    /// <summary>Between the ids of the others, since of two connections that cross the one that the lower id dials is kept.</summary>
    public const ulong Id = 100;

    public ScriptedNode(ulong id = Id, long mostQueuedBytes = LinkLimits.NodeBytes, int mostMalformed = MuteTable.Malformed, int mostGuests = LinkLimits.Guests,
        bool takesData = true, int mostGuestNumbers = LinkLimits.GuestNumbers)
    {
        TcpMesh? mesh = null;
        Node = new(id, 1, new NoHost(), node => mesh = new(node, new("test", Port, new(IPAddress.Loopback, 0), null, mostQueuedBytes, mostMalformed, mostGuests, mostGuestNumbers), 1));
        Mesh = mesh!;
        Node.Counters.ThrowsForbidden = true;
        if (takesData) Node.Route(FrameType.Data, FrameType.Data, this);
        Node.Observe(this);
        Node.Advance(Second);
    }

    public ScriptedPort Port { get; } = new();

    public Node Node { get; }

    public TcpMesh Mesh { get; }

    /// <summary>The numbers of the frames that came, each with the link that it came by.</summary>
    public List<(int Peer, uint Number)> Got { get; } = [];

    /// <summary>What links were reported as; null for up.</summary>
    public List<(int Peer, LinkFault? Fault)> News { get; } = [];

    /// <summary>The addresses of the links that were reported as faulty, as of the report.</summary>
    public List<(NodeAddress At, LinkFault Fault)> Faults { get; } = [];

    /// <summary>Links that have room again.</summary>
    public List<int> Rooms { get; } = [];

    /// <summary>What to do with a frame.</summary>
    public Action<int, uint>? OnData { get; set; }

    /// <summary>What to do when a link is up.</summary>
    public Action<int>? OnUp { get; set; }

    /// <summary>What to do when a link has a fault.</summary>
    public Action<int>? OnFault { get; set; }

    /// <summary>Called after each poll with the amount of work that it did.</summary>
    public Action<int> AfterPoll { get; set; } = static _ => { };

    public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        Got.Add((peer, header.View));
        OnData?.Invoke(peer, header.View);
    }

    public void OnLinkUp(int peer)
    {
        News.Add((peer, null));
        OnUp?.Invoke(peer);
    }

    public void OnLinkFault(int peer, LinkFault fault)
    {
        News.Add((peer, fault));
        Faults.Add((Mesh.AddressOf(peer), fault));
        OnFault?.Invoke(peer);
    }

    public void OnRoom(int peer) => Rooms.Add(peer);

    /// <summary>Turns until nothing is left to do now.</summary>
    public void Turn()
    {
        for (int i = 0; i < 20; i++)
        {
            int work = Mesh.Poll();
            AfterPoll(work);
            Mesh.Flush();
        }
    }

    /// <summary>Lets time go by.</summary>
    public void Pass(long nanoseconds)
    {
        Node.Advance(Node.Now + nanoseconds);
        Turn();
    }

    /// <summary>Lets time go by while the node has its turns.</summary>
    public void PassSlowly(long nanoseconds)
    {
        const long Step = Second / 10;
        for (long end = Node.Now + nanoseconds; Node.Now < end;) Pass(Math.Min(Step, end - Node.Now));
    }

    public void Send(int peer, uint number, int size = 10)
    {
        var frame = Mesh.Reserve(FrameHeader.Size + size);
        FrameHeader.Write(frame, FrameType.Data, 0, number, size);
        frame[FrameHeader.Size..(FrameHeader.Size + size)].Clear();
        Mesh.Send(peer, FrameHeader.Size + size);
    }

    /// <summary>Somebody connects and says that it is the node with this id.</summary>
    public ScriptedPort.OtherEnd Come(ulong id, string listen, ulong token, ulong peerToken = 0) =>
        Come(new("test", HelloFrame.Version, HelloFrame.Version, false, id, Node.Id, token, peerToken, 0, listen));

    public ScriptedPort.OtherEnd Come(in HelloFrame hello)
    {
        var end = Port.Come(hello.ToFrame());
        Turn();
        return end;
    }

    /// <summary>Checks that the last dial is of this address, and tells its result; by default somebody takes the connection.</summary>
    public ScriptedPort.OtherEnd Dials(string address, DialResult result = DialResult.Connected)
    {
        var end = Port.Dialled[^1];
        Assert.Equal(address, end.Dialled?.Text);
        Assert.False(end.IsClosed);
        Port.Tell(end, result);
        Turn();
        return end;
    }

    /// <summary>The other end answers what it was asked.</summary>
    public void Answers(ScriptedPort.OtherEnd end, HelloStatus status, ulong id, ulong token = 0, string listen = "127.0.0.1:1", ulong start = 0)
    {
        end.Say(new HelloAckFrame(status, HelloFrame.Version, id, token, 0, listen, start).ToFrame());
        Turn();
    }

    /// <summary>Numbered frames of a stream, from this offset on, as one write.</summary>
    public static byte[] Frames(long offset, params ReadOnlySpan<uint> numbers)
    {
        var bytes = new byte[SegmentFrame.Size + (numbers.Length * FrameHeader.Size)];
        new SegmentFrame(offset, 0, false).Write(bytes);
        for (int i = 0; i < numbers.Length; i++) FrameHeader.Write(bytes.AsSpan(SegmentFrame.Size + (i * FrameHeader.Size)), FrameType.Data, 0, numbers[i], 0);
        return bytes;
    }

    /// <summary>How often a link was reported with this fault.</summary>
    public int Count(LinkFault? fault) => News.Count(news => news.Fault == fault);

    private sealed class NoHost : IHostPort
    {
        public long Clock() => 0;

        public void Wake()
        {
        }

        public void RunCompletions(List<ICompletion> completions)
        {
        }

        public void Resume(ICompletion work)
        {
        }
    }
}
