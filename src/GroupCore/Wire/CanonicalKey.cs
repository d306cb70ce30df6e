using System.Buffers;
using GroupCore.Wire.Contracts;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire;

/// <summary>
/// Keys as bytes: two keys are equal exactly when their bytes are, so only the bytes are hashed, compared and stored (dht-order.md#keys-and-placement).
/// </summary>
/// <remarks>
/// <para>The bytes are those of <see cref="ContractSerializer"/>, but values that are equal and would be written differently take one form: −0.0 is 0.0, 1.00 is 1,
/// a <see cref="DateTimeOffset"/> is its UTC time. Arrays and lists are equal when their items are, in order. Keys are written this way whatever serializer the
/// values have.</para>
/// <para>These types are refused: sets, dictionaries and other collections without an order of their own, <see cref="Uri"/>, and a type with content that is not
/// written, private fields included, since unequal keys would have equal bytes. A member with <c>[IgnoreDataMember]</c> or <c>[NonSerialized]</c>, such as a cache, is
/// not part of the key. A field with the name of a property that is written (<c>_name</c> of <c>Name</c>) is taken for the field of that property. These values are
/// refused when they are written: NaN, a local <see cref="DateTime"/>, a string with half a character, an object of a type derived from the declared one.</para>
/// </remarks>
internal static class CanonicalKey
{
    /// <summary>Checks that a type can be a key.</summary>
    /// <exception cref="ContractException">It cannot, or a member of it cannot.</exception>
    public static void Check<T>() => Of<T>();

    /// <summary>Appends the bytes of a key.</summary>
    /// <exception cref="ContractException">The type or this value of it cannot be a key.</exception>
    public static void Write<T>(IBufferWriter<byte> to, T key)
    {
        var writer = new MessagePackWriter(to) { Canonical = true };
        Of<T>().Write(ref writer, key);
        writer.Flush();
    }

    /// <summary>Writes the bytes of a key into a span; false when it does not fit.</summary>
    /// <exception cref="ContractException">The type or this value of it cannot be a key.</exception>
    public static bool TryWrite<T>(Span<byte> into, T key, out int written)
    {
        var writer = new MessagePackWriter(into) { Canonical = true };
        Of<T>().Write(ref writer, key);
        written = writer.Fits ? writer.Written : 0;
        return writer.Fits;
    }

    /// <summary>Reads a key back from its bytes.</summary>
    /// <exception cref="InvalidDataException">The bytes are not such a key.</exception>
    public static T Read<T>(ReadOnlySpan<byte> bytes) => ContractSerializer.Instance.Deserialize<T>(bytes);

    /// <summary>The stable hash of a key's bytes.</summary>
    public static ulong Hash(ReadOnlySpan<byte> key, ulong seed) => XxHash64.Hash(key, seed);

    private static Formatter<T> Of<T>() => Checked<T>.Formatter ?? (Checked<T>.Formatter = Examine<T>());

    private static Formatter<T> Examine<T>()
    {
        Formatter<T> formatter = Formatters.Of<T>();
        Examine(formatter, ContractException.Name(typeof(T)), [], root: true);
        return formatter;
    }

    private static void Examine(Formatter formatter, string path, HashSet<Formatter> seen, bool root = false)
    {
        if (!seen.Add(formatter)) return;
        if (formatter.NoKey is { } reason) throw new ContractException(formatter.Type, "cannot be part of a key: it " + reason, root ? null : path);
        foreach ((string name, Formatter part) in formatter.Parts) Examine(part, path + name, seen);
    }

    private static class Checked<T>
    {
        public static Formatter<T>? Formatter;
    }
}
