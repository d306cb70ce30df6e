using System.Buffers;
using GroupCore.Basics;
using GroupCore.Wire.Contracts;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire;

/// <summary>
/// The default <see cref="IPayloadSerializer"/>: MessagePack by the contracts of the BCL, byte for byte what the standard (contractless)
/// resolver of MessagePack-CSharp writes for the same type.
/// </summary>
/// <remarks>
/// <para><c>[DataContract]</c> with <c>[DataMember(Order = n)]</c> is an array by number, with <c>[DataMember]</c> or
/// <c>[DataMember(Name = "x")]</c> a map by name; without attributes, public properties and fields are a map by name. Records, tuples,
/// enumerations, nullables, arrays, collections and dictionaries of the BCL, and its value types are known. No type names travel: a
/// member of an abstract type, an interface or <see cref="object"/> is refused by <see cref="ContractException"/> at the first use. So are any other class of the BCL,
/// and a collection that cannot be made from its items and has no <c>[DataContract]</c>, since their content would not be written.
/// Also refused is a type with a member that keeps a value and is public or has <c>[DataMember]</c>, but cannot be set when it is read, unless the member has
/// <c>[IgnoreDataMember]</c>; a computed property keeps no value. Items of sorted collections must have an order of their own, since comparers do not travel.</para>
/// <para>A reader skips members that it does not know; members that a message lacks keep their defaults. Values may be nested
/// 64 deep. Formatters are built once per type by reflection; after that neither direction allocates
/// anything but what the value itself consists of.</para>
/// <para>A trimmed program keeps the members of types that were registered for handlers or maps. Members of types inside these, and of types that are only given to
/// this class, are kept only if the program says so. What was trimmed away is not written, and a type without any member left is refused.</para>
/// </remarks>
public sealed class ContractSerializer : IPayloadSerializer
{
    private ContractSerializer()
    {
    }

    /// <summary>The serializer; it has no state, and may be used from any thread.</summary>
    public static ContractSerializer Instance { get; } = new();

    /// <summary>Checks that values of a type can be written and read, so that a mistake shows up where it is made.</summary>
    /// <exception cref="ContractException">The type, or a member of it, cannot be written.</exception>
    public static void Check<T>() => Formatters.Of<T>();

    /// <summary>Appends the bytes of <paramref name="value"/>. When it throws, the bytes appended before the error stay.</summary>
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
            throw new InvalidDataException($"The bytes are not a valid {ContractException.Name(typeof(T))} (near byte {reader.Position} of {bytes.Length}): {UserError.Message(e)}", e);
        }
        return reader.AtEnd ? value : throw new InvalidDataException($"{reader.Remaining} bytes follow the {ContractException.Name(typeof(T))}.");
    }
}
