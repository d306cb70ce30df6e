using System.Buffers;
using System.Text;

namespace GroupCore.Wire.MessagePack;

/// <summary>Text that other nodes get as UTF-8 and compare with their own.</summary>
internal static class Utf8Text
{
    /// <summary>Whether the text comes back from UTF-8 as it was; half a surrogate pair does not.</summary>
    public static bool IsKept(ReadOnlySpan<char> text)
    {
        while (!text.IsEmpty)
        {
            if (Rune.DecodeFromUtf16(text, out _, out int used) != OperationStatus.Done) return false;
            text = text[used..];
        }
        return true;
    }

    /// <summary>The text as other nodes would get it, for a message.</summary>
    public static string AsGot(string text) => Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text));
}
