using System.Security.Cryptography;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport.Secure;

/// <summary>Bytes between two nodes that belong together, over real sockets.</summary>
public sealed class SecurePortTests
{
    private static readonly Security s_security = Security.ClusterKey(Security.NewClusterKey());
    private readonly long[] _sent = new long[2];

    public static TheoryData<string> Kinds => ["Epoll", "Completion"];

    [Theory, MemberData(nameof(Kinds))]
    public void Bytes_of_any_number_arrive_in_order_both_ways(string kind)
    {
        using var left = End(kind);
        using var right = End(kind);
        var socket = Connect(left, right);
        var sent = new MemoryStream();
        foreach (int size in (int[])[1, 2, 100, 15_999, 16_000, 16_001, 16_384, 64_000, 64_001, 1 << 20, 3])
        {
            byte[] bytes = RandomNumberGenerator.GetBytes(size);
            sent.Write(bytes);
            left.Send(socket, bytes, right);
            SecureEnd.Until(() => right.Came.Length == sent.Length, left, right);
        }
        Assert.Equal(sent.ToArray(), right.Came.ToArray());
        right.Send(right.Accepted[0], sent.ToArray(), left);
        SecureEnd.Until(() => left.Came.Length == sent.Length, left, right);
        Assert.Equal(sent.ToArray(), left.Came.ToArray());
    }

    [Theory, MemberData(nameof(Kinds))]
    public void A_reader_with_little_room_gets_each_byte_once(string kind)
    {
        using var left = End(kind);
        using var right = End(kind);
        right.Room = 7;
        var socket = Connect(left, right);
        byte[] bytes = RandomNumberGenerator.GetBytes(100_000);
        left.Send(socket, bytes, right);
        SecureEnd.Until(() => right.Came.Length == bytes.Length, left, right);
        Assert.Equal(bytes, right.Came.ToArray());
    }

    [Fact]
    public void Each_end_knows_the_other_s_identity()
    {
        var (mine, yours) = (s_security.Open("c")!, s_security.Open("c")!);
        using var left = new SecureEnd(mine);
        using var right = new SecureEnd(yours);
        var socket = Connect(left, right);
        Assert.Equal(yours.Identity, socket.Identity);
        Assert.Equal(mine.Identity, right.Accepted[0].Identity);
        Assert.Equal(mine.Identity, left.Port.Identity);
    }

    /// <summary>A reader that does not read blocks the sender, which keeps one write at most; what was taken arrives.</summary>
    [Theory, MemberData(nameof(Kinds))]
    public void Who_does_not_read_blocks_the_sender_and_costs_it_little(string kind)
    {
        using var left = End(kind);
        using var right = End(kind);
        var socket = Connect(left, right);
        right.Reads = false;
        byte[] bytes = GC.AllocateUninitializedArray<byte>(1 << 20, pinned: true);
        RandomNumberGenerator.Fill(bytes);
        long taken = 0;
        int last;
        do
        {
            last = left.SendOnce(socket, bytes);
            Assert.InRange(last, 0, bytes.Length);
            taken += last;
            left.Port.Poll(left);
            right.Port.Poll(right);
        }
        while (last > 0);
        Assert.InRange(left.Port.SlabBytes, 1, SlabPool.MediumBytes);
        right.Reads = true;
        right.Port.Resume(right.Accepted[0]);
        SecureEnd.Until(() => left.Writable > 0 && right.Came.Length == taken, left, right);
        Assert.Equal(0, left.Port.SlabBytes);
    }

    /// <summary>Two connections of one port share its buffers, and not one byte.</summary>
    [Theory, MemberData(nameof(Kinds))]
    public void Connections_of_one_port_do_not_mix(string kind)
    {
        using var middle = End(kind);
        using var left = End(kind);
        using var right = End(kind);
        var (first, second) = (Connect(middle, left), Connect(middle, right));
        byte[] ones = new byte[300_000], twos = new byte[300_000];
        Array.Fill(ones, (byte)1);
        Array.Fill(twos, (byte)2);
        (left.Reads, right.Reads) = (false, false);
        for (int i = 0; i < 40; i++)
        {
            SendSome(first, ones);
            SendSome(second, twos);
        }
        (left.Reads, right.Reads) = (true, true);
        left.Port.Resume(left.Accepted[0]);
        right.Port.Resume(right.Accepted[0]);
        SecureEnd.Until(() => left.Came.Length == _sent[0] && right.Came.Length == _sent[1], middle, left, right);
        Assert.DoesNotContain((byte)2, left.Came.ToArray());
        Assert.DoesNotContain((byte)1, right.Came.ToArray());

        void SendSome(PortSocket socket, byte[] bytes)
        {
            byte[] pinned = GC.AllocateUninitializedArray<byte>(bytes.Length, pinned: true);
            bytes.CopyTo(pinned, 0);
            _sent[socket == first ? 0 : 1] += middle.SendOnce(socket, pinned);
            middle.Port.Poll(middle);
        }
    }

    /// <summary>A key protects so many bytes and no more: then the connection ends, and its user makes another.</summary>
    [Fact]
    public void A_connection_ends_when_its_key_has_protected_enough()
    {
        using var left = new SecureEnd(s_security.Open("c")!, mostMade: 100_000);
        using var right = End();
        var socket = Connect(left, right);
        byte[] bytes = GC.AllocateArray<byte>(10_000, pinned: true);
        int sends = 0;
        for (; left.SendOnce(socket, bytes) >= 0; sends++) SecureEnd.Until(() => right.Came.Length == (sends + 1) * 10_000, left, right);
        Assert.InRange(sends, 9, 11);
    }

    /// <summary>Whoever dialled is told when the host has answered, since the rest takes longer.</summary>
    [Fact]
    public void A_dialler_is_told_that_the_host_has_answered_before_the_connection_is_made()
    {
        using var left = End();
        using var right = End();
        left.Dial(right.At);
        SecureEnd.Until(() => left.Reached == 1, left);
        Assert.Empty(left.Dialled);
        SecureEnd.Until(() => left.Dialled.Count == 1, left, right);
    }

    [Fact]
    public void An_idle_connection_holds_no_buffer()
    {
        using var left = End();
        using var right = End();
        var socket = Connect(left, right);
        left.Send(socket, new byte[100_000], right);
        SecureEnd.Until(() => right.Came.Length == 100_000, left, right);
        Assert.Equal((0, 0), (left.Port.SlabBytes, right.Port.SlabBytes));
    }

    [Theory, MemberData(nameof(Kinds))]
    public void The_end_of_a_connection_comes_behind_its_bytes(string kind)
    {
        using var left = End(kind);
        using var right = End(kind);
        var socket = Connect(left, right);
        left.Send(socket, new byte[50_000], right);
        left.Port.Close(socket);
        SecureEnd.Until(() => right.Ended == 1, left, right);
        Assert.Equal(50_000, right.Came.Length);
    }

    [Fact]
    public void Nobody_listening_is_told_as_without_credentials()
    {
        using var left = End();
        var right = End();
        var at = right.At;
        right.Dispose();
        left.Dial(at);
        SecureEnd.Until(() => left.Dialled.Count == 1, left);
        Assert.Equal([DialResult.Refused], left.Dialled);
        Assert.Empty(left.Untrusted);
    }

    /// <summary>Whatever a handshake is doing when its connection is closed, nothing is left and nobody is told.</summary>
    [Fact]
    public void A_connection_closed_in_mid_handshake_says_nothing_more()
    {
        using var left = End();
        using var right = End();
        for (int polls = 0; polls < 40; polls++)
        {
            var socket = left.Dial(right.At);
            for (int i = 0; i < polls; i++)
            {
                left.Port.Poll(left);
                right.Port.Poll(right);
                Thread.Yield();
            }
            int told = left.Dialled.Count;
            left.Port.Close(socket);
            left.Port.Poll(left);
            Assert.Equal(told, left.Dialled.Count);
        }
        SecureEnd.Until(() => right.Ended == right.Accepted.Count && right.Accepted.Count == 40, left, right);
    }

    /// <summary>Forty at once: handshakes run one after the other, and all come to an end.</summary>
    [Fact]
    public void Many_connections_at_once_are_all_made()
    {
        using var left = End();
        using var right = End();
        for (int i = 0; i < 40; i++) left.Dial(right.At);
        SecureEnd.Until(() => left.Dialled.Count == 40, left, right);
        Assert.All(left.Dialled, result => Assert.Equal(DialResult.Connected, result));
    }

    [Theory]
    [InlineData(1), InlineData(2)]
    public void Keys_are_replaced_without_a_pause(int preferred)
    {
        string old = Security.NewClusterKey(), fresh = Security.NewClusterKey();
        var both = preferred == 1 ? Security.ClusterKey(old, fresh) : Security.ClusterKey(fresh, old);
        foreach (var (one, other) in (ReadOnlySpan<(Security, Security)>)[(both, Security.ClusterKey(old)), (Security.ClusterKey(old), both), (both, Security.ClusterKey(fresh)), (Security.ClusterKey(fresh), both), (both, both)])
        {
            using var left = new SecureEnd(one.Open("c")!);
            using var right = new SecureEnd(other.Open("c")!);
            Connect(left, right);
        }
    }

    private static SecureEnd End(string kind = "Epoll") => new(s_security.Open("c")!, kind);

    internal static PortSocket Connect(SecureEnd left, SecureEnd right)
    {
        var socket = left.Dial(right.At);
        int dialled = left.Dialled.Count;
        SecureEnd.Until(() => left.Dialled.Count > dialled, left, right);
        Assert.Equal(DialResult.Connected, left.Dialled[^1]);
        // The acceptor knows the dialler when its own end of the handshake is over.
        SecureEnd.Until(() => right.Accepted is [{ Identity: not null }], left, right);
        return socket;
    }
}
