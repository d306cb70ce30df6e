namespace GroupCore.Transport.Secure;

/// <summary>Handshakes on the thread that asks for them: in a simulation, where no other thread runs.</summary>
internal sealed class HandshakesAtOnce : IHandshakes
{
    public void Post(Handshake handshake) => handshake.Advance();

    public bool TryTakeBack(Handshake handshake) => false;

    public void Dispose()
    {
    }
}
