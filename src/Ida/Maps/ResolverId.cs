namespace Ida.Maps;

/// <summary>The id of resolvers for a type. Computed once, since it is a hash of the type's name.</summary>
internal static class ResolverId<TIncoming>
{
    public static readonly ulong Value = DeclaredResolver.IdOf(typeof(TIncoming));
}
