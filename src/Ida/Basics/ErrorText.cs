namespace Ida;

/// <summary>Texts of users in the messages of errors.</summary>
internal static class ErrorText
{
    // What another member says may be as long as a contribution, and may look like several lines of a log.
    private const int MostOfOthers = 200;

    /// <summary>A text that another member has said, for a message: its beginning where it is long, and none of what would not be shown as it is.</summary>
    public static string OfAnother(string text)
    {
        string shown = text.Length <= MostOfOthers ? text : $"{Cut(text, MostOfOthers)}... ({text.Length} characters)";
        return shown.AsSpan().IndexOfAnyInRange('\0', '\u001F') < 0 ? shown : string.Create(shown.Length, shown, static (to, from) =>
        {
            for (int i = 0; i < to.Length; i++) to[i] = from[i] < ' ' ? '\uFFFD' : from[i];
        });
    }

    /// <summary>At most so many characters of a text; one less where the cut would part a surrogate pair.</summary>
    public static string Cut(string text, int most) => text.Length <= most ? text : text[..(char.IsHighSurrogate(text[most - 1]) ? most - 1 : most)];
}
