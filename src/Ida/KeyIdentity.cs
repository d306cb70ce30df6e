using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using GroupCore.Wire;

namespace Ida;

/// <summary>Key identity: 8 bytes that name the map (its name and types), then the canonical bytes of the key.</summary>
internal static class KeyIdentity
{
    public const int MapBytes = 8;

    [ThreadStatic]
    private static ArrayBufferWriter<byte>? _writer;

    public static byte[] OfMap(string name, Type key, Type value)
    {
        var bytes = new byte[MapBytes];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, StableHash.Of(Encoding.UTF8.GetBytes($"{name}\n{TypeText.Of(key)}\n{TypeText.Of(value)}")));
        return bytes;
    }

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
