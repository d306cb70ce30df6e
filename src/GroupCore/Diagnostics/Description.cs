using System.Text;

namespace GroupCore.Diagnostics;

/// <summary>
/// A text in which the parts of a node say how they are, for a person to read. Its lines are indented by what they belong to. Each class that owns state writes its
/// own part. It shows at most <see cref="MostItems"/> of a list and at most <see cref="MostCharacters"/> in all. Numbers have no fraction, so no culture matters.
/// </summary>
internal sealed class Description
{
    public const int MostCharacters = 64 << 10, MostItems = 16;
    private const int MostOfLine = 1_024;
    private const string Rest = "… the rest is left out\n";
    private readonly StringBuilder _text = new();
    private int _depth;
    private bool _cut;

    /// <summary>A title of what follows, until <see cref="Close"/>.</summary>
    public void Open(FormattableString title)
    {
        Line(title);
        _depth++;
    }

    public void Close() => _depth--;

    public void Line(FormattableString text)
    {
        if (_cut) return;
        string line = FormattableString.Invariant(text).ReplaceLineEndings(" ");
        // Not between the two halves of a character.
        if (line.Length > MostOfLine) line = line[..(char.IsHighSurrogate(line[MostOfLine - 1]) ? MostOfLine - 1 : MostOfLine)] + "…";
        _cut = _text.Length + line.Length + (2 * _depth) + 1 > MostCharacters - Rest.Length;
        if (_cut) _text.Append(Rest);
        else _text.Append(' ', 2 * _depth).Append(line).Append('\n');
    }

    /// <summary>The first of <paramref name="items"/>, and how many more there are.</summary>
    public void List<T>(IEnumerable<T> items, int count, Action<Description, T> write)
    {
        foreach (var item in items.Take(MostItems)) write(this, item);
        if (count > MostItems) Line($"… and {count - MostItems} more");
    }

    /// <summary>A time as people write it.</summary>
    public static string Time(long nanoseconds) => FormattableString.Invariant(nanoseconds switch
    {
        < 1_000_000 => $"{Math.Max(0, nanoseconds) / 1_000} µs",
        < 10_000_000_000 => $"{nanoseconds / 1_000_000} ms",
        _ => $"{nanoseconds / 1_000_000_000} s",
    });

    public override string ToString() => _text.ToString();
}
