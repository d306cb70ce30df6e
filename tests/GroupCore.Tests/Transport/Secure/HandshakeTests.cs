using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Secure;
using Ida.Tests.Shared;

namespace GroupCore.Tests.Transport.Secure;

/// <summary>Two ends of a handshake without sockets: what arrives arrives when the test says so.</summary>
public sealed class HandshakeTests
{
    private static readonly string s_key = Security.NewClusterKey();
    private readonly List<Handshake> _told = [];

    [Fact]
    public void Both_ends_know_each_other_at_the_end()
    {
        var (left, right) = (End(s_key, dials: true), End(s_key, dials: false));
        Assert.True(Run(left, right));
        Assert.NotNull(left.Other);
        Assert.NotNull(right.Other);
        Assert.Equal(("", ""), (left.Why, right.Why));
    }

    [Fact]
    public void Bytes_may_arrive_one_at_a_time()
    {
        var (left, right) = (End(s_key, dials: true), End(s_key, dials: false));
        Assert.True(Run(left, right, piece: 1));
        Assert.NotNull(left.Other);
    }

    /// <summary>The last flight is taken with the word that it is the last, or the other end would never have it.</summary>
    [Fact]
    public void The_end_is_told_together_with_the_last_bytes()
    {
        var (left, right) = (End(s_key, dials: true), End(s_key, dials: false));
        var made = new RecordOutput(pinned: false);
        for (int turn = 0; turn < 20; turn++)
        {
            var (from, to) = turn % 2 == 0 ? (left, right) : (right, left);
            from.Advance();
            int before = made.Count;
            bool over = from.TakeMade(made);
            if (over && from == right)
            {
                Assert.True(made.Count > before);
                return;
            }
            to.Arrived(made.Bytes);
            made.Clear();
        }
        Assert.Fail("It did not end.");
    }

    /// <summary>The other end says why, and closes: both may have arrived when this end looks.</summary>
    [Fact]
    public void A_reason_that_comes_with_the_end_is_told()
    {
        var (left, right) = (End(s_key, dials: true), End(Security.NewClusterKey(), dials: false));
        var made = new RecordOutput(pinned: false);
        for (bool over = false; !over;)
        {
            left.Advance();
            left.TakeMade(made);
            right.Arrived(made.Bytes);
            made.Clear();
            right.Advance();
            over = right.TakeMade(made);
            left.Arrived(made.Bytes);
            made.Clear();
        }
        left.End();
        left.Advance();
        Assert.Contains("another cluster key", left.Why);
        Assert.Contains("another cluster key", right.Why);
    }

    [Theory]
    [InlineData(1), InlineData(2), InlineData(3)]
    public void A_connection_that_only_ends_is_no_reason_to_distrust(int turns)
    {
        var (left, right) = (End(s_key, dials: true), End(s_key, dials: false));
        Assert.False(Run(left, right, turns: turns));
        foreach (var end in (Handshake[])[left, right])
        {
            end.End();
            end.Advance();
            Assert.True(end.TakeMade(new(pinned: false)));
            Assert.Null(end.Other);
            Assert.Equal("", end.Why);
        }
    }

    /// <summary>In all, and not only what nobody has looked at yet.</summary>
    [Fact]
    public void A_handshake_takes_so_many_bytes_and_no_more()
    {
        int most = Security.ClusterKey(s_key).Open("c")!.MostHandshakeBytes;
        var right = End(s_key, dials: false);
        byte[] piece = new byte[1024];
        (piece[0], piece[1], piece[2], piece[3], piece[4]) = (22, 3, 1, 0x40, 0);
        int taken = 0;
        while (right.Arrived(piece))
        {
            taken += piece.Length;
            right.Advance();
            Assert.True(taken <= most);
        }
        Assert.Equal(most, taken);
    }

    [Fact]
    public void What_the_own_credentials_throw_is_not_the_other_end_s_fault()
    {
        using var authority = new TestAuthority();
        using var own = authority.Issue("urn:ida:c:a");
        bool fails = false;
        var credentials = Security.Certificates(new() { Own = () => own, Authorities = () => fails ? throw new InvalidOperationException("no disk") : authority.Certificates }).Open("c")!;
        fails = true;
        var left = new Handshake(null, credentials, "c", dials: true, _told.Add);
        left.Advance();
        Assert.True(left.TakeMade(new(pinned: false)));
        Assert.Contains("no disk", left.OwnFault);
        Assert.Equal("", left.Why);
    }

    /// <summary>A certificate may be so odd that reading it throws. That must not pass for trouble of this node's own.</summary>
    [Fact]
    public void A_certificate_that_cannot_be_read_is_the_other_end_s_fault()
    {
        var (left, right) = (End(s_key, dials: true), new Handshake(null, new Unreadable(), "c", dials: false, _told.Add));
        Run(left, right);
        Assert.Null(right.Other);
        Assert.Equal(("its certificate cannot be read", ""), (right.Why, right.OwnFault));
    }

    [Fact]
    public void A_list_of_accepted_keys_that_throws_is_not_the_other_end_s_fault()
    {
        using var authority = new TestAuthority();
        using var own = authority.Issue("urn:ida:c:a");
        var security = Security.Certificates(new() { Own = () => own, Allowed = () => throw new InvalidOperationException("no disk") });
        var right = new Handshake(null, security.Open("c")!, "c", dials: false, _told.Add);
        using var shown = authority.Issue("urn:ida:c:b");
        var left = new Handshake(null, Security.Certificates(new() { Own = () => shown, Authorities = () => authority.Certificates }).Open("c")!, "c", dials: true, _told.Add);
        Run(left, right);
        Assert.Contains("no disk", right.OwnFault);
        Assert.Equal("", right.Why);
    }

    /// <summary>However long the thread is held up, what strangers have begun and given up does not gather there.</summary>
    [Fact]
    public void A_handshake_that_was_not_begun_is_taken_back()
    {
        using var thread = new HandshakeThread(static _ => { }, "none");
        var (dialled, accepted) = (End(s_key, dials: true), End(s_key, dials: false));
        thread.Post(dialled);
        thread.Post(accepted);
        foreach (var one in (Handshake[])[dialled, accepted])
        {
            Assert.True(thread.TryTakeBack(one));
            Assert.False(thread.TryTakeBack(one));
        }
        dialled.Advance();
        thread.Post(dialled);
        Assert.False(thread.TryTakeBack(dialled));
    }

    [Fact]
    public void An_abandoned_handshake_lets_go_and_tells_nobody()
    {
        var (left, right) = (End(s_key, dials: true), End(s_key, dials: false));
        Run(left, right, turns: 1);
        _told.Clear();
        left.Abandon();
        left.Advance();
        Assert.Empty(_told);
        Assert.True(left.TakeMade(new(pinned: false)));
        Assert.False(left.Tls.CanRead);
    }

    /// <summary>What arrives behind the handshake belongs to its user.</summary>
    [Fact]
    public void Bytes_behind_the_handshake_are_left()
    {
        var (left, right) = (End(s_key, dials: true), End(s_key, dials: false));
        Assert.True(Run(left, right));
        Assert.True(right.Arrived([23, 3, 3, 0, 1, 7]));
        Assert.Equal([23, 3, 3, 0, 1, 7], right.TakeLeft().ToArray());
        Assert.Equal(0, right.TakeLeft().Length);
    }

    private sealed class Unreadable : NodeCredentials
    {
        private readonly NodeCredentials _own = Security.ClusterKey(s_key).Open("c")!;

        public override NodeIdentity Identity => _own.Identity;

        public override string Accepts => "";

        public override SslStreamCertificateContext Own() => _own.Own();

        public override X509ChainPolicy Chain() => _own.Chain();

        public override NodeIdentity Identify(X509Certificate2 certificate, SslPolicyErrors errors, out string why) => throw new CryptographicException("odd");
    }

    private Handshake End(string key, bool dials) => new(null, Security.ClusterKey(key).Open("c")!, "c", dials, _told.Add);

    // Whether both came to their end.
    private static bool Run(Handshake left, Handshake right, int piece = int.MaxValue, int turns = 30)
    {
        var made = new RecordOutput(pinned: false);
        bool[] over = new bool[2];
        for (int turn = 0; turn < turns && !(over[0] && over[1]); turn++)
        {
            var (from, to) = turn % 2 == 0 ? (left, right) : (right, left);
            from.Advance();
            over[turn % 2] = from.TakeMade(made);
            for (int at = 0; at < made.Count; at += piece == int.MaxValue ? made.Count : piece)
            {
                to.Arrived(made.Bytes.AsSpan(at, Math.Min(piece, made.Count - at)));
                if (piece != int.MaxValue) to.Advance();
            }
            made.Clear();
        }
        return over[0] && over[1];
    }
}
