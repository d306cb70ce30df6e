using System.Buffers;
using System.Text;
using GroupCore.Wire;

namespace GroupCore.Groups;

/// <summary>
/// A layer's name and frame types: its own range within <see cref="FrameType.FirstLayer"/> to <see cref="FrameType.LastLayer"/>, the same at every member.
/// A process declares its layers in <see cref="GroupHostOptions.Layers"/>. Source: views-and-flush.md#each-layer-has-its-name-and-its-frame-types.
/// </summary>
internal sealed record LayerFrames
{
    /// <summary>Longest name, in characters.</summary>
    internal const int NameChars = 32;

    /// <summary>Most bytes of a head.</summary>
    internal const int MostHeadBytes = 3 + NameChars;

    /// <summary>Gives a layer <paramref name="count"/> types, beginning with <paramref name="first"/>.</summary>
    /// <param name="name">1 to 32 characters of ASCII, without spaces.</param>
    /// <param name="first">The first type.</param>
    /// <param name="count">Number of types, at least 1.</param>
    /// <exception cref="ArgumentException">The name, or the range, is not allowed.</exception>
    public LayerFrames(string name, FrameType first, int count)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (!IsName(name)) throw new ArgumentException($"\"{name}\" is not a valid name of a layer; allowed are 1 to {NameChars} characters of ASCII, without spaces.", nameof(name));
        if (!IsRange(first, count))
            throw new ArgumentException($"{count} frame types from {(byte)first} on are not a valid range of a layer; layers may use {(byte)FrameType.FirstLayer} to {(byte)FrameType.LastLayer}.", nameof(count));
        (Name, First, Count) = (name, first, count);
    }

    /// <summary>Name of the layer.</summary>
    public string Name { get; }

    /// <summary>The first of its frame types.</summary>
    public FrameType First { get; }

    /// <summary>Number of its frame types.</summary>
    public int Count { get; }

    /// <summary>The last of its frame types.</summary>
    public FrameType Last => First + (byte)(Count - 1);

    /// <summary>Whether frames of that type are this layer's.</summary>
    public bool Has(FrameType type) => type >= First && type <= Last;

    /// <summary>Name and range.</summary>
    public override string ToString() => $"\"{Name}\" with the frame types {(byte)First} to {(byte)Last}";

    /// <summary>Whether two layers cannot be in one group: they have the same name, or frame types in common.</summary>
    internal bool Clashes(LayerFrames other) => other != this && (other.Name == Name || (other.First <= Last && First <= other.Last));

    /// <summary>Writes what each contribution of the layer begins with: length of the name u8, name, first type u8, number of types u8.</summary>
    internal void WriteHead(IBufferWriter<byte> into)
    {
        var head = into.GetSpan(MostHeadBytes);
        head[0] = (byte)Encoding.ASCII.GetBytes(Name, head[1..]);
        (head[Name.Length + 1], head[Name.Length + 2]) = ((byte)First, (byte)Count);
        into.Advance(Name.Length + 3);
    }

    /// <summary>Reads the head of a contribution, and its length; null if the bytes do not begin with a head.</summary>
    internal static LayerFrames? ReadHead(ReadOnlySpan<byte> from, out int length)
    {
        length = from.IsEmpty ? 0 : from[0] + 3;
        if (from.Length < length || length == 0) return null;
        string name = Encoding.ASCII.GetString(from[1..(length - 2)]);
        var (first, count) = ((FrameType)from[length - 2], from[length - 1]);
        return IsName(name) && IsRange(first, count) ? new(name, first, count) : null;
    }

    private static bool IsName(string name) => name.Length is > 0 and <= NameChars && !name.AsSpan().ContainsAnyExceptInRange('!', '~');

    private static bool IsRange(FrameType first, int count) =>
        first is >= FrameType.FirstLayer and <= FrameType.LastLayer && count > 0 && count <= FrameType.LastLayer - first + 1;
}
