using GroupCore.Diagnostics;
using GroupCore.Wire.MessagePack;

namespace Ida.Scenarios;

/// <summary>Judges a node's description of itself, as a person reads it.</summary>
internal static class NodeText
{
    /// <summary>What is wrong with the text; null for nothing.</summary>
    /// <param name="node">The node that was asked.</param>
    /// <param name="wasOver">Whether it had ended before: then it must say no more than that.</param>
    /// <param name="text">What it said.</param>
    public static string? Wrong(IdaNode node, bool wasOver, string text)
    {
        if (!text.Contains($"at {node.Address}", StringComparison.Ordinal)) return $"{node.Address} does not name itself: {text}";
        if (text.Length > Description.MostCharacters) return $"{node.Address} says {text.Length} characters of itself.";
        if (!Utf8Text.IsKept(text)) return $"{node.Address} says half a character: {text}";
        return wasOver && text.TrimEnd().Contains('\n', StringComparison.Ordinal) ? $"{node.Address} has ended, and says: {text}" : null;
    }
}
