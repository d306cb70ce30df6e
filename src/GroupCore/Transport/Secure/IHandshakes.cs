namespace GroupCore.Transport.Secure;

/// <summary>Where handshakes are computed: on a thread of its own beside the loop, or at once in a simulation.</summary>
internal interface IHandshakes : IDisposable
{
    /// <summary>Lets <see cref="Handshake.Advance"/> run soon. Handshakes run one at a time.</summary>
    void Post(Handshake handshake);

    /// <summary>Takes back one that is not begun: nothing runs for it any more. False if it has begun, or is not posted.</summary>
    bool TryTakeBack(Handshake handshake);
}
