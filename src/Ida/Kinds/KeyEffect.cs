using Ida.Maps;
using Ida.Wire;

namespace Ida.Kinds;

/// <summary>
/// What an operation does to one key. Each effect has a file: with its arguments as bytes, what must hold for them, and what the effect makes of an entry.
/// Source: dht-order.md#state.
/// </summary>
/// <param name="number">Its number, which goes on the wire and into the hash that names a put.</param>
internal abstract class KeyEffect(byte number)
{
    public static readonly KeyEffect Read = new ReadEffect(), Put = new PutEffect(), Remove = new RemoveEffect(), Merge = new MergeEffect(), Check = new CheckEffect();

    /// <summary>Each at the place of its number.</summary>
    public static IReadOnlyList<KeyEffect> All => s_all;

    private static readonly KeyEffect[] s_all = [Read, Put, Remove, Merge, Check];

    public byte Number => number;

    /// <summary>Whether the caller brings a value.</summary>
    public virtual bool Brings => false;

    /// <summary>Whether it may change the entry.</summary>
    public virtual bool Changes => true;

    /// <summary>Whether what it makes of an entry depends on that entry's value: then a member without its state has to get the value first.</summary>
    public virtual bool NeedsValue => false;

    /// <summary>Whether it may fail, so that nothing is done to the other keys of its shard.</summary>
    public virtual bool MayFail => false;

    /// <summary>Whether the entry is gone after it.</summary>
    public virtual bool Removes => false;

    /// <summary>Whether it has no meaning without an expectation.</summary>
    public virtual bool MustExpect => false;

    /// <summary>Whether its caller is told the value that is stored afterwards.</summary>
    public virtual bool TellsValue => false;

    /// <summary>Null for a number that no effect has.</summary>
    public static KeyEffect? Find(int number) => (uint)number < (uint)s_all.Length ? s_all[number] : null;

    /// <summary>Writes its arguments, which follow number and expectation.</summary>
    public virtual void WriteArguments(ref BodyWriter to, ReadOnlySpan<byte> incoming, ulong resolver)
    {
    }

    /// <summary>Reads what <see cref="WriteArguments"/> has written. Untrusted.</summary>
    public virtual void ReadArguments(ref BodyReader from, out ReadOnlySpan<byte> incoming, out ulong resolver)
    {
        incoming = default;
        resolver = 0;
    }

    /// <summary>Whether all members can do it to keys of this map.</summary>
    public virtual bool IsAgreed(DeclaredMap map, ulong resolver) => true;

    /// <summary>Makes the new value of an entry, null for none. Returns an error of the user's code if there is one; then nothing is done.</summary>
    public virtual string? Apply(IResolvers resolvers, ulong resolver, byte[] key, byte[]? before, byte[]? incoming, out byte[]? after)
    {
        after = before;
        return null;
    }

    public abstract override string ToString();
}
