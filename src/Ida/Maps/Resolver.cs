using GroupCore.Wire;

namespace Ida.Maps;

/// <summary>A resolver with its types.</summary>
internal sealed class Resolver<TKey, TStored, TIncoming>(string map, Func<TKey, TStored?, TIncoming, TStored?> resolve) : DeclaredResolver(map, typeof(TIncoming))
{
    public override byte[]? Resolve(IPayloadSerializer serializer, ReadOnlySpan<byte> key, byte[]? stored, byte[] incoming) =>
        NeutralContext.Run(static call => call.Resolve(), new Call(resolve, serializer, key, stored, incoming));

    // Reading the key also runs code of its type.
    private readonly ref struct Call(Func<TKey, TStored?, TIncoming, TStored?> resolve, IPayloadSerializer serializer, ReadOnlySpan<byte> key, byte[]? stored, byte[] incoming)
    {
        private readonly ReadOnlySpan<byte> _key = key;

        public byte[]? Resolve()
        {
            var result = resolve(CanonicalKey.Read<TKey>(_key), stored is null ? default : serializer.Deserialize<TStored>(stored), serializer.Deserialize<TIncoming>(incoming));
            return result is null ? null : KeyIdentity.ToBytes(serializer, result);
        }
    }
}
