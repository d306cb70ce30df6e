using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Mesh;

namespace GroupCore.Tests.Transport.Secure;

/// <summary>Who has credentials may say that it is itself, and nobody else.</summary>
public sealed class SecureLinkTests
{
    private const ulong Start = 7, Another = 2;
    private static readonly Security s_security = Security.ClusterKey(Security.NewClusterKey());
    private readonly NodeCredentials _own = s_security.Open("c")!, _other = s_security.Open("c")!;

    [Theory]
    [InlineData(Start, 0, true), InlineData(Start, Another, false), InlineData(Start + 1, 0, false)]
    public async Task An_id_that_does_not_belong_to_the_credentials_is_refused(ulong start, ulong change, bool accepted)
    {
        await using var loop = NodeLoop.Start(new() { Cluster = "c", Credentials = _other });
        using var end = new SecureEnd(_own);
        var socket = end.Dial(EndPointText.Parse(loop.Local.Text, "loop"));
        SecureEnd.Until(() => end.Dialled.Count == 1, end);
        end.Send(socket, new HelloFrame("c", HelloFrame.Version, HelloFrame.Version, false, _own.Identity.IdOf(Start) ^ change, 0, HelloFrame.NoName, 0, 0, "127.0.0.1:9", start).ToFrame(), end);
        SecureEnd.Until(() => end.Ended == 1 || end.Came.Length > 0, end);
        Assert.Equal(accepted, end.Came.Length > 0);
        Assert.Equal(accepted ? 0 : 1, loop.Node.Counters.Refused(RefusalReason.WrongSender));
    }

    [Theory]
    [InlineData(Start, 0, true), InlineData(Start, Another, false), InlineData(Start + 1, 0, false)]
    public async Task An_acceptor_under_an_id_that_is_not_its_own_is_refused(ulong start, ulong change, bool accepted)
    {
        using var end = new SecureEnd(_own);
        await using var loop = NodeLoop.Start(new() { Cluster = "c", Credentials = _other }, node => node.Links.Open(new(end.At.ToString())));
        SecureEnd.Until(() => end.Came.Length > 0, end);
        int heard = (int)end.Came.Length;
        end.Send(end.Accepted[0], new HelloAckFrame(HelloStatus.Identified, HelloFrame.Version, _own.Identity.IdOf(Start) ^ change, 0, 0, end.At.ToString(), start).ToFrame(), end);
        // A dialler that believes the answer says a whole Hello on the same connection.
        SecureEnd.Until(() => end.Ended > 0 || end.Came.Length > heard, end);
        Assert.Equal(accepted, end.Came.Length > heard);
        Assert.Equal(accepted ? 0 : 1, loop.Node.Counters.Refused(RefusalReason.WrongSender));
    }
}
