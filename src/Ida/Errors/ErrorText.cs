namespace Ida;

/// <summary>Texts of users in the messages of errors.</summary>
internal static class ErrorText
{
    /// <summary>At most so many characters of a text; one less where the cut would part a surrogate pair.</summary>
    public static string Cut(string text, int most) => text.Length <= most ? text : text[..(char.IsHighSurrogate(text[most - 1]) ? most - 1 : most)];
}
