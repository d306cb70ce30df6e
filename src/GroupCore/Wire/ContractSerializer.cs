using System.Buffers;
using GroupCore.Runtime;
using GroupCore.Wire.Contracts;

namespace GroupCore.Wire;

/// <summary>
/// The default <see cref="IPayloadSerializer"/>: MessagePack by the contracts of the BCL, byte for byte what the standard (contractless)
/// resolver of MessagePack-CSharp writes for the same type.
/// </summary>
/// <remarks>
/// <para><c>[DataContract]</c> with <c>[DataMember(Order = n)]</c> is an array by number, with <c>[DataMember]</c> or
/// <c>[DataMember(Name = "x")]</c> a map by name; without attributes, public properties and fields are a map by name. Records, tuples,
/// enumerations, nullables, arrays, collections and dictionaries of the BCL, and its value types are known. No type names travel: a
/// member of an abstract type, an interface or <see cref="object"/> is refused by <see cref="ContractException"/> at the first use. So is a class of the BCL that is none of those,
/// and a collection that cannot be made from its items and has no <c>[DataContract]</c>: they would be written without what they hold.
/// And so is a type with a public member, or any with <c>[DataMember]</c>, that keeps what it is given and cannot be set when it is read, unless it has
/// <c>[IgnoreDataMember]</c>; a property that computes what it gives is no such member. Sorted tables are of items that have an order of their own: comparers do not travel.</para>
/// <para>What a reader does not know it skips; what a message lacks keeps its default. Values may be nested
/// <see cref="MessagePackReader.MaxDepth"/> deep. Formatters are built once per type by reflection; after that neither direction allocates
/// anything but what the value itself consists of.</para>
/// </remarks>
public sealed class ContractSerializer : IPayloadSerializer
{
    private ContractSerializer()
    {
    }

    /// <summary>The serializer; it has no state, and may be used from any thread.</summary>
    public static ContractSerializer Instance { get; } = new();

    /// <summary>Checks that values of a type can be written and read, so that a mistake shows where it was made.</summary>
    /// <exception cref="ContractException">The type, or a member of it, cannot be written.</exception>
    public static void Check<T>() => Formatters.Of<T>();

    /// <summary>Appends the bytes of <paramref name="value"/>. When it throws, what was appended before the mistake showed stays.</summary>
    /// <exception cref="ContractException">The type, or a member of it, cannot be written, or is nested too deep.</exception>
    public void Serialize<T>(IBufferWriter<byte> to, T value)
    {
        var writer = new MessagePackWriter(to);
        Formatters.Of<T>().Write(ref writer, value);
        writer.Flush();
    }

    /// <summary>Writes a value into a span; false when it does not fit.</summary>
    /// <exception cref="ContractException">The type, or a member of it, cannot be written.</exception>
    public static bool TrySerialize<T>(Span<byte> into, T value, out int written)
    {
        var writer = new MessagePackWriter(into);
        Formatters.Of<T>().Write(ref writer, value);
        written = writer.Fits ? writer.Written : 0;
        return writer.Fits;
    }

    /// <inheritdoc/>
    /// <exception cref="ContractException">The type, or a member of it, cannot be read.</exception>
    public T Deserialize<T>(ReadOnlySpan<byte> bytes)
    {
        Formatter<T> formatter = Formatters.Of<T>();
        var reader = new MessagePackReader(bytes);
        T value;
        try
        {
            value = formatter.Read(ref reader);
        }
        catch (Exception e) when (e is not InvalidDataException and not OutOfMemoryException)
        {
            // A constructor or setter of the type, or of the BCL, refused what was read.
            throw new InvalidDataException($"The bytes are no {ContractException.Name(typeof(T))} (near byte {reader.Position} of {bytes.Length}): {UserError.Message(e)}", e);
        }
        return reader.AtEnd ? value : throw new InvalidDataException($"{reader.Remaining} bytes follow the {ContractException.Name(typeof(T))}.");
    }
}
