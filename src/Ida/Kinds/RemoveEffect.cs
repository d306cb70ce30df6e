namespace Ida.Kinds;

/// <summary>Removes the entry; an absent key stays as it is, without a version.</summary>
internal sealed class RemoveEffect() : KeyEffect(2)
{
    public override bool NeedsValue => true;

    public override bool Removes => true;

    public override string? Apply(IResolvers resolvers, ulong resolver, byte[] key, byte[]? before, byte[]? incoming, out byte[]? after)
    {
        after = null;
        return null;
    }

    public override string ToString() => "remove";
}
