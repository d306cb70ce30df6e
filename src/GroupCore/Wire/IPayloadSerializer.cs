using System.Buffers;

namespace GroupCore.Wire;

/// <summary>Turns messages of users into bytes and back. The default writes MessagePack; see the decision record on MessagePack.</summary>
/// <remarks>
/// Many threads call it at once. If a DHT has resolvers, values that are equal must have equal bytes in every process: each replica itself writes the result of its
/// resolver, so bytes that depend on hashes of texts, a culture, or references would differ from replica to replica. Callers' values are written
/// and read under the culture of any thread, resolvers' values under the invariant culture: bytes must not depend on it.
/// </remarks>
public interface IPayloadSerializer
{
    /// <summary>Appends the bytes of <paramref name="value"/>.</summary>
    void Serialize<T>(IBufferWriter<byte> to, T value);

    /// <summary>Reads a value; throws <see cref="System.IO.InvalidDataException"/> when the bytes are not such a value.</summary>
    T Deserialize<T>(ReadOnlySpan<byte> bytes);
}
