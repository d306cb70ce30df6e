using System.Globalization;
using Ida.Testing.Checking;

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

/// <summary>One pair of a drawn put. A value names the element that wrote it, and is filled with one letter that follows from it, so that bytes of another value show.</summary>
internal readonly record struct SurfacePart(PartKind Kind, string Map, string Key, long Element, int Pad)
{
    /// <summary>The version that the key must have for any pair to be applied.</summary>
    public ulong? Expected { get; init; }

    /// <summary>What the key held with that version, as somebody was told; null where no key ever has it.</summary>
    public HistoryValue? ExpectedValue { get; init; }

    /// <summary>Whether the put changes the key, unless a resolver or an expectation keeps it from that.</summary>
    public bool IsChange => Kind is PartKind.Append or PartKind.Put or PartKind.Remove;

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
