using System.Buffers;

namespace GroupCore.Wire;

/// <summary>The seam between messages of users and bytes. The default writes MessagePack; see the decision record on MessagePack.</summary>
public interface IPayloadSerializer
{
    /// <summary>Appends the bytes of <paramref name="value"/>.</summary>
    void Serialize<T>(IBufferWriter<byte> to, T value);

    /// <summary>Reads a value; throws <see cref="System.IO.InvalidDataException"/> when the bytes are not one.</summary>
    T Deserialize<T>(ReadOnlySpan<byte> bytes);
}
