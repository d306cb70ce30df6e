namespace Ida.Maps;

/// <summary>A map as members compare it: its types, how its keys are placed, and the types that its resolvers merge, in order; all as text.</summary>
internal sealed record MapShape(string Name, string Key, string Value, string Placement, IReadOnlyList<string> Resolvers)
{
    /// <summary>The hash of the name.</summary>
    public ulong Id { get; } = KeyIdentity.IdOf(Name);

    /// <summary>Its name, for a message.</summary>
    public string Shown => $"the map \"{ErrorText.OfAnother(Name)}\"";

    /// <summary>How this map contradicts another of the same name; null if it does not.</summary>
    public string? Contradiction(MapShape other)
    {
        if (Key != other.Key) return $"{Shown} has keys of {ErrorText.OfAnother(Key)} here and of {ErrorText.OfAnother(other.Key)} there";
        if (Value != other.Value) return $"{Shown} has values of {ErrorText.OfAnother(Value)} here and of {ErrorText.OfAnother(other.Value)} there";
        return Placement == other.Placement ? null : $"the keys of {Shown} are placed {By(Placement)} here and {By(other.Placement)} there";
    }

    /// <summary>Whether it has a resolver for a type.</summary>
    public bool Resolves(string incoming) => Resolvers.Contains(incoming, StringComparer.Ordinal);

    private static string By(string placement) => placement.Length == 0 ? "by all of their bytes" : ErrorText.OfAnother(placement);
}
