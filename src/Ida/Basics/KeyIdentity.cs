using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using GroupCore.Wire;

namespace Ida;

/// <summary>Key identity: 8 bytes that name the map, then the canonical bytes of the key.</summary>
internal static class KeyIdentity
{
    public const int MapBytes = 8;

    [ThreadStatic]
    private static ArrayBufferWriter<byte>? _writer;

    /// <summary>The id that stands for a map in front of its keys.</summary>
    public static ulong IdOf(string map) => StableHash.Of(Encoding.UTF8.GetBytes(map));

    /// <summary>The id of a key's map.</summary>
    public static ulong MapOf(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadUInt64LittleEndian(key);

    /// <summary>
    /// Where a key lies in the table of a slice and in a transfer: a hash of its bytes that spreads any keys well. The user's hash decides only the shard, and may be the same for many keys.
    /// </summary>
    public static ulong PlaceOf(ReadOnlySpan<byte> key) => StableHash.Of(key[MapBytes..]) ^ MapOf(key);

    /// <summary>The bytes of a value, in an array of their own that the slice may keep.</summary>
    public static byte[] ToBytes<T>(IPayloadSerializer serializer, T value)
    {
        // Taken out while in use: user code that runs here may put into the DHT of another node, and this thread then runs that node's turn.
        var writer = _writer ?? new(256);
        _writer = null;
        writer.ResetWrittenCount();
        serializer.Serialize(writer, value);
        var bytes = writer.WrittenSpan.ToArray();
        if (writer.Capacity <= 1 << 20) _writer = writer;
        return bytes;
    }
}
