using System.Globalization;

namespace Ida.Scenarios;

/// <summary>What one pair of a drawn put does.</summary>
internal enum PartKind
{
    Append,
    Put,
    Remove,

    /// <summary>A merge whose resolver throws: its shard is left unchanged, and its error told.</summary>
    Fail,

    /// <summary>Changes nothing: the key only has to have a version.</summary>
    Check,
}

/// <summary>One pair of a drawn put. Values say who wrote them and how long they must be, so that one that lost bytes shows.</summary>
internal readonly record struct SurfacePart(PartKind Kind, string Map, string Key, long Element, int Pad)
{
    /// <summary>The version that the key must have for any pair to be applied.</summary>
    public ulong? Expected { get; init; }

    /// <summary>What the key held with that version, as far as anybody was told; null for absence.</summary>
    public long? ExpectedElement { get; init; }

    /// <summary>The key's name in the history.</summary>
    public string Name => $"{Map}:{Key}";

    public string Value => $"{Element}|{new string((char)('a' + (Element % 26)), Pad)}";

    /// <summary>The element of a stored value.</summary>
    public static long ElementOf(string value)
    {
        int bar = value.IndexOf('|', StringComparison.Ordinal);
        long element = long.Parse(value.AsSpan(0, bar), CultureInfo.InvariantCulture);
        char fill = (char)('a' + (element % 26));
        if (value.AsSpan(bar + 1).ContainsAnyExcept(fill)) throw new ScenarioFailedException($"The value of {element} holds bytes of another.");
        return element;
    }
}
