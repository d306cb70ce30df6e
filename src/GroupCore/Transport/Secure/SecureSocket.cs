using System.Net.Security;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Secure;

/// <summary>One TLS connection of a <see cref="SecurePort"/>. An idle one holds no buffer beside what <see cref="SslStream"/> keeps.</summary>
internal sealed class SecureSocket(PortSocket under, bool dials) : PortSocket
{
    /// <summary>The connection that carries the records.</summary>
    public PortSocket Under => under;

    /// <summary>Whether this end dialled it.</summary>
    public bool Dials => dials;

    /// <summary>Where it stands in the list of connections that are not closed.</summary>
    public int Place { get; set; }

    /// <summary>The handshake; null before a dialled connection is made, and after the handshake has succeeded.</summary>
    public Handshake? Handshake { get; set; }

    /// <inheritdoc/>
    public override bool HasSpoken => Handshake is not { } handshake || handshake.IsPosted || handshake.HasBegun;

    /// <summary>Whether the handshake has ended, and failed.</summary>
    public bool IsRefused { get; set; }

    /// <summary>What encrypts and decrypts; null until the handshake has succeeded.</summary>
    public SslStream? Tls { get; set; }

    /// <summary>What <see cref="Tls"/> reads and writes.</summary>
    public RecordStream Records { get; set; } = null!;

    /// <summary>A read that waits, since the records so far carried nothing for the user.</summary>
    public Task<int>? Reading { get; set; }

    /// <summary>Records that carried nothing for the user, since the connection was made.</summary>
    public int Idle { get; set; }

    /// <summary>Bytes of records that were made.</summary>
    public long Made { get; set; }

    /// <summary>Records that arrived and are not read yet, and the beginning of the next one.</summary>
    public KeptBytes Input;

    /// <summary>Decrypted bytes that the user had no room for.</summary>
    public KeptBytes Plain;

    /// <summary>Records that were made and that the connection below has not taken.</summary>
    public KeptBytes Unsent;

    /// <summary>Whether the user wanted to send more than was taken.</summary>
    public bool IsBlocked { get; set; }

    /// <summary>Whether nothing comes any more: the other end has finished, or sent what is no record of it.</summary>
    public bool IsEnded { get; set; }

    /// <summary>The number of the poll in which the user was last told to receive.</summary>
    public long ServedIn { get; set; }

    /// <summary>Whether it stands in the list of sockets to receive from.</summary>
    public bool IsListed { get; set; }

    /// <summary>Whether there are bytes to receive, or an end to tell of, that the port below does not tell of.</summary>
    public bool HasMore => Plain.Count > 0 || IsEnded || RecordStream.BeginsWhole(Input.Bytes);

    public void MarkClosed() => IsClosed = true;

    public void MarkKnown(NodeIdentity other) => Identity = other;
}
