using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>One member of an object.</summary>
internal abstract class Member<TOwner>(ContractMember contract)
{
    /// <summary>Place among the members of the type.</summary>
    public int Index { get; set; }

    public ContractMember Contract { get; } = contract;

    /// <summary>The key as MessagePack, header included, so that one copy writes it.</summary>
    public byte[] Key { get; } = EncodedKey(contract.Key);

    public abstract Formatter Formatter { get; }

    public abstract void Complete(IFormatterSource source);

    public abstract void Write(ref MessagePackWriter writer, ref TOwner owner);

    /// <summary>Reads the value and sets it.</summary>
    public abstract void Read(ref MessagePackReader reader, ref TOwner owner);

    /// <summary>Reads the value for the constructor.</summary>
    public abstract void Read(ref MessagePackReader reader, Holder holder);

    /// <summary>Sets the value that was read into <paramref name="holder"/>, once the object is constructed.</summary>
    public abstract void Set(Holder holder, ref TOwner owner);

    public abstract Holder NewHolder();

    private static byte[] EncodedKey(string key)
    {
        var bytes = new byte[key.Length * 3 + 5];
        var writer = new MessagePackWriter(bytes.AsSpan());
        writer.WriteString(key);
        return bytes[..writer.Written];
    }
}
