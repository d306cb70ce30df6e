namespace Ida;

/// <summary>Texts of users in error messages.</summary>
internal static class ErrorText
{
    // What another member says may be as long as a contribution, and may look like several lines of a log.
    private const int MostOfOthers = 200;

    /// <summary>A text from another member, for a message: only its beginning if it is long, and with control characters replaced.</summary>
    public static string OfAnother(string text)
    {
        string shown = text.Length <= MostOfOthers ? text : $"{Cut(text, MostOfOthers)}... ({text.Length} characters)";
        return shown.AsSpan().IndexOfAnyInRange('\0', '\u001F') < 0 ? shown : string.Create(shown.Length, shown, static (to, from) =>
        {
            for (int i = 0; i < to.Length; i++) to[i] = from[i] < ' ' ? '\uFFFD' : from[i];
        });
    }

    /// <summary>At most this many characters of a text; one less where the cut would split a surrogate pair.</summary>
    public static string Cut(string text, int most) => text.Length <= most ? text : text[..(char.IsHighSurrogate(text[most - 1]) ? most - 1 : most)];
}
