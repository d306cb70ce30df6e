using System.Net.Security;
using System.Security.Authentication;
using GroupCore.Basics;
using GroupCore.Transport.Credentials;

namespace GroupCore.Transport.Secure;

/// <summary>What both ends say to each other inside a new TLS connection: the messages of <see cref="KeyProof"/>, and the byte by which the acceptor says that the dialler is in.</summary>
internal sealed class ProofExchange(SslStream tls, string cluster, bool dials)
{
    private const byte Refused = 0, Accepted = 1;

    /// <summary>Proves the key to the other end, and sees its proof. Throws <see cref="AuthenticationException"/> if that is wrong.</summary>
    public Task RunAsync(ClusterKeys keys, byte[] own, byte[] other)
    {
        byte[] binding = KeyProof.Binding(cluster, dials ? own : other, dials ? other : own);
        return dials ? AskAsync(keys, binding) : AnswerAsync(keys, binding);
    }

    /// <summary>The acceptor lets the dialler in.</summary>
    public async Task AcceptAsync()
    {
        byte[] word = [Accepted];
        if (dials) await tls.ReadExactlyAsync(word).ConfigureAwait(false);
        else await tls.WriteAsync(word).ConfigureAwait(false);
        if (word[0] != Accepted) throw new AuthenticationException("it does not accept this node");
    }

    private async Task AskAsync(ClusterKeys keys, byte[] binding)
    {
        byte[] question = new byte[KeyProof.QuestionBytes];
        Entropy.Fill(question.AsSpan(0, KeyProof.NonceBytes));
        for (int i = 0; i < keys.Count; i++) KeyProof.WriteId(keys[i], question.AsSpan(KeyProof.NonceBytes + (i * KeyProof.IdBytes), KeyProof.IdBytes));
        await tls.WriteAsync(question).ConfigureAwait(false);
        byte[] answer = new byte[KeyProof.AnswerBytes];
        await tls.ReadExactlyAsync(answer).ConfigureAwait(false);
        int at = IndexOf(keys, answer.AsSpan(KeyProof.NonceBytes, KeyProof.IdBytes));
        if (at < 0) throw new AuthenticationException("it has another cluster key");
        var (mine, yours) = (question.AsMemory(0, KeyProof.NonceBytes), answer.AsMemory(0, KeyProof.NonceBytes));
        if (!KeyProof.IsRight(keys[at], ofDialler: false, binding, mine.Span, yours.Span, answer.AsSpan(KeyProof.NonceBytes + KeyProof.IdBytes)))
            throw new AuthenticationException("it does not prove the cluster key");
        byte[] own = new byte[KeyProof.ProofBytes];
        KeyProof.Write(keys[at], ofDialler: true, binding, mine.Span, yours.Span, own);
        await tls.WriteAsync(own).ConfigureAwait(false);
    }

    private async Task AnswerAsync(ClusterKeys keys, byte[] binding)
    {
        byte[] question = new byte[KeyProof.QuestionBytes];
        await tls.ReadExactlyAsync(question).ConfigureAwait(false);
        int at = Common(keys, question.AsSpan(KeyProof.NonceBytes));
        byte[] answer = new byte[KeyProof.AnswerBytes];
        if (at < 0)
        {
            // An answer of zeros names no key: the dialler is told why it is refused.
            await tls.WriteAsync(answer).ConfigureAwait(false);
            throw new AuthenticationException("it has another cluster key");
        }
        Entropy.Fill(answer.AsSpan(0, KeyProof.NonceBytes));
        var (yours, mine) = (question.AsMemory(0, KeyProof.NonceBytes), answer.AsMemory(0, KeyProof.NonceBytes));
        KeyProof.WriteId(keys[at], answer.AsSpan(KeyProof.NonceBytes));
        KeyProof.Write(keys[at], ofDialler: false, binding, yours.Span, mine.Span, answer.AsSpan(KeyProof.NonceBytes + KeyProof.IdBytes));
        await tls.WriteAsync(answer).ConfigureAwait(false);
        byte[] proof = new byte[KeyProof.ProofBytes];
        await tls.ReadExactlyAsync(proof).ConfigureAwait(false);
        if (KeyProof.IsRight(keys[at], ofDialler: true, binding, yours.Span, mine.Span, proof)) return;
        await tls.WriteAsync(new byte[] { Refused }).ConfigureAwait(false);
        throw new AuthenticationException("it does not prove the cluster key");
    }

    // The first of this end's keys, in the order of the dialler, that both have.
    private static int Common(ClusterKeys keys, ReadOnlySpan<byte> ids)
    {
        for (int i = 0; i < KeyProof.MostKeys; i++)
            if (IndexOf(keys, ids.Slice(i * KeyProof.IdBytes, KeyProof.IdBytes)) is >= 0 and var at) return at;
        return -1;
    }

    private static int IndexOf(ClusterKeys keys, ReadOnlySpan<byte> id)
    {
        Span<byte> own = stackalloc byte[KeyProof.IdBytes];
        for (int i = 0; i < keys.Count; i++)
        {
            KeyProof.WriteId(keys[i], own);
            if (own.SequenceEqual(id)) return i;
        }
        return -1;
    }
}
