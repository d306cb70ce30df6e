using System.Buffers.Binary;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>A malformed frame is held against its sender, even if it was kept and is read while another's frame is delivered.</summary>
public sealed class KeptFrameTests : IMembership, IFrameHandler
{
    private const int Most = 3;
    private const ulong Liar = 77, Leader = 78;
    private static readonly GroupId s_group = new(1, 1);
    private readonly ScriptedNode _node = new(mostMalformed: Most, takesData: false);
    private IMembershipSink _sink = null!;

    public ProcessId Self => new(ScriptedNode.Id, 1);

    public MembershipState State => MembershipState.Active;

    public long LeaseUntil => long.MaxValue;

    [Fact]
    public void Frames_of_a_flush_that_a_member_sent_too_early_are_held_against_it_and_not_against_the_sender_of_the_proposal()
    {
        var host = new GroupHost(_node.Node, this, new());
        _node.Node.Route(FrameType.Propose, FrameType.Propose, this);
        _ = host.JoinAsync("g", static _ => { }).AsTask();
        var (liar, toLiar) = Reach(Liar, "127.0.0.1:5");
        var (leader, toLeader) = Reach(Leader, "127.0.0.1:6");
        Turn();
        _sink.OnJoinAccepted("g", s_group);
        _sink.OnInstall(new(s_group, "g", 1, 1, new(), [Member(Leader, "127.0.0.1:6"), Member(ScriptedNode.Id, _node.Mesh.Local.Text), Member(Liar, "127.0.0.1:5")], [], [], [], []));
        Turn();

        // Parts of the cuts of flushes to come, with a rank that does not exist.
        byte[] bind = new byte[16], part = new byte[10];
        BinaryPrimitives.WriteUInt32LittleEndian(bind, s_group.Number);
        BinaryPrimitives.WriteUInt32LittleEndian(bind.AsSpan(4), s_group.Incarnation);
        BinaryPrimitives.WriteUInt64LittleEndian(bind.AsSpan(8), 1);
        BinaryPrimitives.WriteUInt16LittleEndian(part.AsSpan(8), ushort.MaxValue);
        liar.Say(Segment());
        liar.Say(Frame(FrameType.Bind, bind));
        for (ulong p = 10; p < 10 + Most + 1; p++)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(part, p);
            liar.Say(Frame(FrameType.CutPart, part));
        }
        Turn();
        Assert.Equal(0, _node.Node.Counters.Refused(RefusalReason.Malformed));

        leader.Say(Segment());
        for (byte p = 10; p < 10 + Most; p++) leader.Say(Frame(FrameType.Propose, [p]));
        Turn();
        Assert.Equal((Most, 0), (_node.Node.Counters.Refused(RefusalReason.Malformed), _node.Node.Counters.Refused(RefusalReason.Muted)));
        leader.Say(Frame(FrameType.Propose, [10 + Most]));
        Turn();
        Assert.Equal([toLiar], _node.News.Where(static news => news.Fault == LinkFault.Rejected).Select(static news => news.Peer));
        Assert.False(leader.IsClosed);
        Assert.True(_node.Mesh.IsSettled(toLeader));
    }

    // A member that was asked for and is confirmed.
    private (ScriptedPort.OtherEnd End, int Peer) Reach(ulong id, string address)
    {
        int peer = _node.Mesh.Open(new(address), id);
        var end = _node.Dials(address);
        _node.Answers(end, HelloStatus.Accepted, id, 9);
        return (end, peer);
    }

    private static ViewMember Member(ulong id, string address) => new(new(id, 1), new(address), true, "");

    private static byte[] Segment()
    {
        var bytes = new byte[SegmentFrame.Size];
        new SegmentFrame(0, 0, false).Write(bytes);
        return bytes;
    }

    private static byte[] Frame(FrameType type, ReadOnlySpan<byte> body)
    {
        var bytes = new byte[FrameHeader.Size + body.Length];
        FrameHeader.Write(bytes, type, 1, 1, body.Length);
        body.CopyTo(bytes.AsSpan(FrameHeader.Size));
        return bytes;
    }

    private void Turn()
    {
        _node.Node.RunCommands();
        _node.Turn();
        _node.Node.EndTurn();
        _node.Node.Release();
    }

    void IFrameHandler.OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body) =>
        _sink.OnPropose(new(s_group, body[0], 1, [new(Leader, 1), Self, new(Liar, 1)], [], []));

    void IMembership.Attach(IMembershipSink sink) => _sink = sink;

    void IMembership.Join(string name, GroupOptions options, string tag)
    {
    }

    void IMembership.Create(string name, GroupOptions options, IReadOnlyList<ProcessId> members) => throw new NotSupportedException();

    void IMembership.Leave(GroupId group)
    {
    }

    void IMembership.RequestView(GroupId group)
    {
    }

    void IMembership.CompleteView(GroupId group, ulong baseView, ulong proposal, IReadOnlyList<ProcessId> initialised) => throw new NotSupportedException();

    void IMembership.Suspect(ProcessId subject, Suspicion evidence)
    {
    }

    void IMembership.Withdraw(ProcessId subject)
    {
    }

    void IMembership.Sync(GroupId group, ulong view, ulong proposal)
    {
    }
}
