using System.Globalization;

namespace Ida.Testing.Workload;

/// <summary>Values with a filling of a wanted length: the part that a history compares, that length, and the filling, in which a lost or foreign byte shows.</summary>
internal static class FilledValue
{
    private const char Bar = '|';

    public static string Make(string mark, int filling) =>
        filling == 0 ? mark : string.Create(CultureInfo.InvariantCulture, $"{mark}{Bar}{filling}{Bar}{new string(Fill(mark), filling)}");

    /// <summary>What the history shows of a value; a value that is not as it was made shows as one that nobody wrote.</summary>
    public static string Shown(string value)
    {
        int bar = value.IndexOf(Bar, StringComparison.Ordinal);
        if (bar < 0) return value;
        string mark = value[..bar];
        int next = value.IndexOf(Bar, bar + 1);
        bool whole = next > 0 && int.TryParse(value.AsSpan(bar + 1, next - bar - 1), NumberStyles.None, CultureInfo.InvariantCulture, out int filling)
            && value.Length - next - 1 == filling && !value.AsSpan(next + 1).ContainsAnyExcept(Fill(mark));
        return whole ? mark : $"{mark} with a damaged filling";
    }

    private static char Fill(string mark) => (char)('a' + ((mark.Length + mark[^1]) % 26));
}
