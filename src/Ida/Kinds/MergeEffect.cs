using GroupCore.Basics;
using Ida.Maps;
using Ida.Wire;

namespace Ida.Kinds;

/// <summary>Replaces the value by what a resolver of the map makes of it and of the value that the caller brings. Source: dht-order.md#resolvers-are-deterministic.</summary>
internal sealed class MergeEffect() : KeyEffect(3)
{
    public override bool Brings => true;

    public override bool NeedsValue => true;

    public override bool MayFail => true;

    public override bool TellsValue => true;

    public override void WriteArguments(ref BodyWriter to, ReadOnlySpan<byte> incoming, ulong resolver)
    {
        to.Blob(incoming);
        to.U64(resolver);
    }

    public override void ReadArguments(ref BodyReader from, out ReadOnlySpan<byte> incoming, out ulong resolver)
    {
        incoming = from.Blob(DhtLimits.ValueBytes);
        resolver = from.U64();
    }

    /// <summary>Whether all members can run the resolver; coordinators ask only for such resolvers.</summary>
    public override bool IsAgreed(DeclaredMap map, ulong resolver) => map.FindResolver(resolver) is { LackedBy: null };

    public override string? Apply(IResolvers resolvers, ulong resolver, byte[] key, byte[]? before, byte[]? incoming, out byte[]? after)
    {
        try
        {
            after = resolvers.Resolve(resolver, key, before, incoming!);
            if (after is { Length: > DhtLimits.ValueBytes } large) throw new ValueTooLargeException("The resolver's value", large.Length, DhtLimits.ValueBytes);
            return null;
        }
        catch (Exception error)
        {
            after = before;
            return UserError.Message(error);
        }
    }

    public override string ToString() => "merge";
}
