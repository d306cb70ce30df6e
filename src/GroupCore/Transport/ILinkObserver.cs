namespace GroupCore.Transport;

/// <summary>Hears what happens to links, inside a turn.</summary>
public interface ILinkObserver
{
    /// <summary>A connection is up and frames flow; also after each resume, and when it is known of one that dialled in who it is.</summary>
    void OnLinkUp(int peer);

    /// <summary>A connection broke or could not be made.</summary>
    void OnLinkFault(int peer, LinkFault fault);

    /// <summary>A peer for which somebody found no <see cref="ILinks.Room"/> has room again.</summary>
    void OnRoom(int peer)
    {
    }
}
