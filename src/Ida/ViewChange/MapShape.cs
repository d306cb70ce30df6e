namespace Ida.ViewChange;

/// <summary>A map as members compare it: its types, how its keys are placed, and the types that its resolvers merge, in order; all as text.</summary>
internal sealed record MapShape(string Name, string Key, string Value, string Placement, IReadOnlyList<string> Resolvers)
{
    /// <summary>The hash of the name.</summary>
    public ulong Id { get; } = KeyIdentity.IdOf(Name);

    /// <summary>How this map contradicts another of its name; null where it does not.</summary>
    public string? Contradiction(MapShape other)
    {
        if (Key != other.Key) return $"the map \"{Name}\" has keys of {Key} here and of {other.Key} there";
        if (Value != other.Value) return $"the map \"{Name}\" has values of {Value} here and of {other.Value} there";
        return Placement == other.Placement ? null : $"the keys of the map \"{Name}\" are placed {By(Placement)} here and {By(other.Placement)} there";
    }

    /// <summary>Whether it has a resolver for a type.</summary>
    public bool Resolves(string incoming) => Resolvers.Contains(incoming, StringComparer.Ordinal);

    private static string By(string placement) => placement.Length == 0 ? "by all of their bytes" : placement;
}
