using Ida.Kinds;
using Ida.Maps;

namespace Ida.Coordination;

/// <summary>One key of a caller's operation, and its result.</summary>
internal struct OperationPart
{
    /// <summary>Place in the call; parts are sorted by shard.</summary>
    public int Index;

    public int KeyOffset, KeyLength, Shard;

    /// <summary>Where the key lies in the table of a slice.</summary>
    public ulong Place;

    /// <summary>What all members have to declare: the resolver of a merge, else the map.</summary>
    public Declared Uses;

    /// <summary>What is done to the key.</summary>
    public KeyDeed Deed;

    /// <summary>Length of the value that the operation brings; it follows the key.</summary>
    public int IncomingLength;

    public bool HasResult;

    /// <summary>The proposed time for which the result was computed or read ahead; <see cref="Executed"/> for the result of an execution.</summary>
    public ulong ResultTime;

    public const ulong Executed = ulong.MaxValue;

    /// <summary>A value read from this member's slice, which never changes an array.</summary>
    public byte[]? Value;

    /// <summary>Whether the value came from another member; below, its place in the bytes of the operation.</summary>
    public bool HasCopy;
    public int CopyOffset, CopyLength;

    public ulong Version;

    /// <summary>What the shard tells of the put, at the first part that lies there.</summary>
    public PutReport? Report;
}
