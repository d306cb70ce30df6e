using System.Buffers;

namespace GroupCore.Wire;

/// <summary>Turns messages of users into bytes and back. The default writes MessagePack; see the decision record on MessagePack.</summary>
/// <remarks>
/// Called by many threads at once. Where a DHT has resolvers, values that are equal must have equal bytes in every process: each replica writes the result of its
/// resolver by itself, so bytes that depend on hashes of texts, a culture, or references would differ from replica to replica. Values of callers are written
/// and read under the culture of any thread, values of resolvers under the invariant one: bytes must not depend on it.
/// </remarks>
public interface IPayloadSerializer
{
    /// <summary>Appends the bytes of <paramref name="value"/>.</summary>
    void Serialize<T>(IBufferWriter<byte> to, T value);

    /// <summary>Reads a value; throws <see cref="System.IO.InvalidDataException"/> when the bytes are not one.</summary>
    T Deserialize<T>(ReadOnlySpan<byte> bytes);
}
