using System.Text;
using GroupCore.Wire;

namespace Ida.Maps;

/// <summary>A resolver of a map.</summary>
internal abstract class DeclaredResolver(string map, Type incoming) : Declared
{
    /// <summary>The type of the value that is merged, as text: what members compare.</summary>
    public string Incoming { get; } = TypeText.Of(incoming);

    /// <summary>Names the resolver among those of its map; never 0.</summary>
    public ulong Id { get; } = IdOf(incoming);

    /// <summary>The value to be stored, null for none; throws what the user's code throws.</summary>
    public abstract byte[]? Resolve(IPayloadSerializer serializer, ReadOnlySpan<byte> key, byte[]? stored, byte[] incoming);

    public override string Text => $"the resolver for {Incoming} of the map \"{map}\"";

    public override MapNotAgreedException NotAgreed(bool isRetry) => new(map, Incoming, LackedBy!.Value, isRetry);

    public static ulong IdOf(Type incoming) => Math.Max(1, StableHash.Of(Encoding.UTF8.GetBytes(TypeText.Of(incoming))));
}
