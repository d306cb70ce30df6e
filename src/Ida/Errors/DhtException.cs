using GroupCore.Membership;

namespace Ida;

/// <summary>
/// Base of everything the DHT reports. The class below it says what a caller does next: <see cref="DhtMisuseException"/>, <see cref="DhtNotExecutedException"/>, <see cref="DhtRetryLaterException"/>,
/// <see cref="DhtOutcomeException"/> or <see cref="DhtLostException"/>.
/// </summary>
public class DhtException(string message, Exception? inner = null) : Exception(message, inner)
{
    /// <summary>The shard concerned; null if none or several are, or it is not known.</summary>
    public int? Shard { get; internal set; }

    /// <summary>The member concerned, one if there are several: it refused the operation, or lacks what that uses, or the operation waited for it. Null if none is, or it is not known.</summary>
    public ProcessId? Peer { get; internal set; }

    /// <summary>The view in which the error arose; null if it is not known.</summary>
    public ulong? View { get; internal set; }

    /// <summary>Operations of this member that waited for a place or for another member when the error arose; null if they were not counted.</summary>
    public int? QueueDepth { get; internal set; }

    /// <summary>Copies these properties into a copy of the error.</summary>
    private protected T Carried<T>(T copy) where T : DhtException
    {
        (copy.Shard, copy.Peer, copy.View, copy.QueueDepth) = (Shard, Peer, View, QueueDepth);
        return copy;
    }
}
