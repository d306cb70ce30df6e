using GroupCore.Membership;

namespace Ida;

/// <summary>
/// Base of everything the DHT reports. The class below it says what a caller does next: <see cref="DhtMisuseException"/>, <see cref="DhtNotExecutedException"/>, <see cref="DhtRetryLaterException"/>,
/// <see cref="DhtOutcomeException"/> or <see cref="DhtLostException"/>.
/// </summary>
public class DhtException(string message, Exception? inner = null) : Exception(message, inner)
{
    /// <summary>The shard that it is about; null where that is none, several, or not known.</summary>
    public int? Shard { get; internal set; }

    /// <summary>The member that it is about: that refused the operation, lacks what it uses, or for which it waited. Null where that is none, or not known; of several it is one.</summary>
    public ProcessId? Peer { get; internal set; }

    /// <summary>The view in which it came about; null where none is known.</summary>
    public ulong? View { get; internal set; }

    /// <summary>Operations of this member that waited, for a place or for another member, when it came about; null where they were not looked at.</summary>
    public int? QueueDepth { get; internal set; }

    /// <summary>Gives a copy what this one carries.</summary>
    private protected T Carried<T>(T copy) where T : DhtException
    {
        (copy.Shard, copy.Peer, copy.View, copy.QueueDepth) = (Shard, Peer, View, QueueDepth);
        return copy;
    }
}
