using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using GroupCore.Basics;
using GroupCore.Transport.Credentials;

namespace GroupCore.Transport.Secure;

/// <summary>
/// The handshake of one connection: TLS 1.3 in which both ends show a certificate, then the proof of the cluster key if there is one, then one byte by which the acceptor says that the dialler is in.
/// The loop brings what arrived and takes what is to be sent; everything else happens in <see cref="Advance"/>, on the thread that shakes hands.
/// </summary>
internal sealed class Handshake : IDisposable
{
    private static bool s_works;
    private static readonly SslApplicationProtocol s_protocol = new("ida/1");
    private readonly Lock _lock = new();
    private readonly RecordStream _stream = new();
    private readonly Action<Handshake> _told;
    private readonly NodeCredentials _credentials;
    private readonly ProofExchange _proof;
    private readonly bool _dials;

    // Under the lock: what arrived and was not read, what was made and not taken, and whether all is over.
    private byte[] _arrived = [];
    private int _from, _to;
    private readonly RecordOutput _made = new(pinned: false);
    private bool _ended, _over;
    private int _posted;
    private volatile bool _abandoned, _begun;
    private Task? _running;

    public Handshake(SecureSocket? socket, NodeCredentials credentials, string cluster, bool dials, Action<Handshake> told)
    {
        (Socket, _credentials, _dials, _told) = (socket, credentials, dials, told);
        _stream.Output = new(pinned: false);
        Tls = new(_stream, leaveInnerStreamOpen: true);
        _proof = new(Tls, cluster, dials);
    }

    /// <summary>The connection; null in a warm-up.</summary>
    public SecureSocket? Socket { get; }

    /// <summary>The stream that encrypts; the loop's, once the handshake is over and has succeeded.</summary>
    public SslStream Tls { get; }

    /// <summary>What <see cref="Tls"/> reads and writes.</summary>
    public RecordStream Stream => _stream;

    /// <summary>Whether anything was done for it.</summary>
    public bool HasBegun => _begun;

    /// <summary>Whether it waits for the thread that shakes hands. By the loop.</summary>
    public bool IsPosted => Volatile.Read(ref _posted) != 0;

    /// <summary>Whether it is one that somebody else asks for and for which nothing was done yet.</summary>
    public bool IsNew => !_dials && !_begun && !_abandoned;

    /// <summary>Who the other end is; null if it was not accepted.</summary>
    public NodeIdentity? Other { get; private set; }

    /// <summary>Why the other end was not accepted; empty if the connection ended, or <see cref="OwnFault"/> says why.</summary>
    public string Why { get; private set; } = "";

    /// <summary>What is wrong with this node's own credentials; empty if nothing is.</summary>
    public string OwnFault { get; private set; } = "";

    /// <summary>What this node could not renew of its credentials, while it used what was valid before; null if nothing.</summary>
    public string? Trouble { get; private set; }

    /// <summary>Whether there is TLS as it is used here; once in a process. The first handshake takes 0.2 s, most of it the compiler's, which no connection has to wait for after this.</summary>
    /// <exception cref="CredentialsException">There is not, and the message says why.</exception>
    public static void Try()
    {
        if (s_works) return;
        var keys = ClusterKeys.Parse([Security.NewClusterKey()], "A key");
        var credentials = new KeyCredentials("trial", () => keys, static () => null);
        Handshake[] ends = [new(null, credentials, "trial", dials: true, static _ => { }), new(null, credentials, "trial", dials: false, static _ => { })];
        var made = new RecordOutput(pinned: false);
        bool[] over = new bool[ends.Length];
        for (int turn = 0; turn < 32 && !(over[0] && over[1]); turn++)
        {
            int at = turn % ends.Length;
            ends[at].Advance();
            over[at] = ends[at].TakeMade(made);
            ends[1 - at].Arrived(made.Bytes);
            made.Clear();
        }
        foreach (var end in ends)
        {
            end.Abandon();
            end.Advance();
        }
        s_works = Array.TrueForAll(ends, static end => end.Other is not null);
        if (!s_works) throw new CredentialsException($"TLS 1.3 cannot be used on this system: {string.Join(" ", ends.Select(static end => end.Why + end.OwnFault).Distinct())}");
    }

    /// <summary>Whether the caller, who has something for it, must post it: it is not posted yet. By the loop.</summary>
    public bool MustPost() => Interlocked.Exchange(ref _posted, 1) == 0;

    /// <summary>Bytes that arrived; false when they are too many for a handshake. By the loop.</summary>
    public bool Arrived(ReadOnlySpan<byte> bytes)
    {
        using (_lock.Hold())
        {
            if (_to + bytes.Length > _credentials.MostHandshakeBytes) return false;
            if (_to + bytes.Length > _arrived.Length) Array.Resize(ref _arrived, Math.Min(_credentials.MostHandshakeBytes, Math.Max(_to + bytes.Length, 2 * _arrived.Length)));
            bytes.CopyTo(_arrived.AsSpan(_to));
            _to += bytes.Length;
            return true;
        }
    }

    /// <summary>Whether a whole record has arrived, or what begins none. By the loop.</summary>
    public bool HasRecord
    {
        get
        {
            using (_lock.Hold()) return RecordStream.BeginsWhole(_arrived.AsSpan(_from, _to - _from));
        }
    }

    /// <summary>Nothing arrives any more. By the loop.</summary>
    public void End()
    {
        using (_lock.Hold()) _ended = true;
    }

    /// <summary>The connection is closed: what still runs does not matter. Post it once more. By the loop.</summary>
    public void Abandon()
    {
        using (_lock.Hold()) (_arrived, _from, _to) = ([], 0, 0);
        _abandoned = true;
    }

    /// <summary>Takes the bytes that are to be sent, and says whether they are the last: then nothing runs any more, and everything here is the loop's. By the loop.</summary>
    public bool TakeMade(RecordOutput to)
    {
        using (_lock.Hold())
        {
            to.Add(_made.Bytes);
            _made.Clear();
            return _over;
        }
    }

    /// <summary>Bytes that arrived and belong to what follows the handshake. By the loop, when the handshake is over; they are forgotten by it.</summary>
    public ReadOnlySpan<byte> TakeLeft()
    {
        var left = _arrived.AsSpan(_from, _to - _from);
        (_arrived, _from, _to) = ([], 0, 0);
        return left;
    }

    /// <summary>Goes on with what arrived. By the thread that shakes hands.</summary>
    public void Advance()
    {
        _begun = true;
        Volatile.Write(ref _posted, 0);
        Interlocked.MemoryBarrier();
        if (_over) return;
        if (_abandoned)
        {
            // What waits ends at once.
            _stream.End();
            using (_lock.Hold()) _over = true;
            Dispose();
            return;
        }
        var running = _running ??= RunAsync();
        while (!running.IsCompleted && _stream.IsEmpty && NextRecord() is { Length: > 0 } record) _stream.Feed(record);
        if (!running.IsCompleted && HasNoMore()) _stream.End();
        bool tells;
        using (_lock.Hold())
        {
            _made.Add(_stream.Output.Bytes);
            _stream.Output.Clear();
            _over = running.IsCompleted;
            tells = _over || _made.Count > 0;
        }
        if (tells) _told(this);
    }

    /// <summary>Releases what it holds of the system. By the thread that shakes hands, or by the loop when the handshake is over and has failed.</summary>
    public void Dispose()
    {
        Tls.Dispose();
        _stream.Dispose();
    }

    // The loop may bring the last bytes and the end between two looks: the bytes are read first.
    private bool HasNoMore()
    {
        using (_lock.Hold()) return _ended && !(RecordStream.LengthOf(_arrived.AsSpan(_from, _to - _from)) is > 0 and var length && _to - _from >= length);
    }

    // The next whole record, copied; empty if it has not arrived.
    private byte[] NextRecord()
    {
        using (_lock.Hold())
        {
            int length = RecordStream.LengthOf(_arrived.AsSpan(_from, _to - _from));
            if (length < 0)
            {
                Why = "what it sends is no TLS";
                _ended = true;
            }
            if (length <= 0 || _to - _from < length) return [];
            byte[] record = _arrived.AsSpan(_from, length).ToArray();
            _from += length;
            return record;
        }
    }

    private async Task RunAsync()
    {
        NodeIdentity? other = null;
        try
        {
            byte[] own = await AuthenticateAsync(Judge).ConfigureAwait(false);
            if (Own(() => _credentials.Keys) is { } keys) await _proof.RunAsync(keys, own, Tls.RemoteCertificate!.GetRawCertData()).ConfigureAwait(false);
            await _proof.AcceptAsync().ConfigureAwait(false);
            Other = other;
        }
        catch (Exception error)
        {
            // Whatever the user's functions throw, and whatever the other end sends. A connection that just ended is no reason to distrust.
            bool isEnd = _stream.IsOver && error is IOException;
            if (Why.Length == 0 && OwnFault.Length == 0 && !isEnd) Why = Text(error);
        }
        Trouble = _credentials.TakeTrouble();

        bool Judge(X509Certificate? certificate, SslPolicyErrors errors)
        {
            string why = "it shows no certificate";
            if (certificate is X509Certificate2 shown) other = Identify(shown, errors, out why);
            if (other is null) Why = why;
            return other is not null;
        }
    }

    private static string Text(Exception error) => error is not AuthenticationException && error.InnerException is { } inner ? $"{error.Message} {inner.Message}" : error.Message;

    // What the user's functions throw is no fault of the other end, and what its certificate makes others throw is.
    private NodeIdentity? Identify(X509Certificate2 shown, SslPolicyErrors errors, out string why)
    {
        try
        {
            return _credentials.Identify(shown, errors, out why);
        }
        catch (CredentialsException error)
        {
            OwnFault = error.Message;
            throw;
        }
        catch (Exception)
        {
            why = "its certificate cannot be read";
            return null;
        }
    }

    // What this node's own credentials throw is no fault of the other end.
    private T Own<T>(Func<T> ask)
    {
        try
        {
            return ask();
        }
        catch (Exception error)
        {
            OwnFault = UserError.Text(error);
            throw;
        }
    }

    // Returns the certificate that this end showed.
    private async Task<byte[]> AuthenticateAsync(Func<X509Certificate?, SslPolicyErrors, bool> judge)
    {
        var (own, chain, shown) = Own(() =>
        {
            var context = _credentials.Own();
            return (context, _credentials.Chain(), context.TargetCertificate.RawData);
        });
        if (_dials)
        {
            await Tls.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
            {
                TargetHost = "ida",
                EnabledSslProtocols = SslProtocols.Tls13,
                ApplicationProtocols = [s_protocol],
                ClientCertificateContext = own,
                AllowRenegotiation = false,
                AllowTlsResume = false,
                CertificateChainPolicy = chain,
                RemoteCertificateValidationCallback = (_, certificate, _, errors) => judge(certificate, errors),
            }).ConfigureAwait(false);
        }
        else
        {
            await Tls.AuthenticateAsServerAsync(new SslServerAuthenticationOptions
            {
                EnabledSslProtocols = SslProtocols.Tls13,
                ApplicationProtocols = [s_protocol],
                ServerCertificateContext = own,
                ClientCertificateRequired = true,
                AllowRenegotiation = false,
                AllowTlsResume = false,
                CertificateChainPolicy = chain,
                RemoteCertificateValidationCallback = (_, certificate, _, errors) => judge(certificate, errors),
            }).ConfigureAwait(false);
        }
        if (Tls.NegotiatedApplicationProtocol != s_protocol) throw new AuthenticationException("it does not speak this protocol");
        return shown;
    }
}
