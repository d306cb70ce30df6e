using Ida.Wire;

namespace Ida.Kinds;

/// <summary>Replaces the value.</summary>
internal sealed class PutEffect() : KeyEffect(1)
{
    public override bool Brings => true;

    public override void WriteArguments(ref BodyWriter to, ReadOnlySpan<byte> incoming, ulong resolver) => to.Blob(incoming);

    public override void ReadArguments(ref BodyReader from, out ReadOnlySpan<byte> incoming, out ulong resolver)
    {
        incoming = from.Blob(DhtLimits.ValueBytes);
        resolver = 0;
    }

    public override string? Apply(IResolvers resolvers, ulong resolver, byte[] key, byte[]? before, byte[]? incoming, out byte[]? after)
    {
        after = incoming;
        return null;
    }

    public override string ToString() => "put";
}
