namespace Ida.Weaver;

/// <summary>
/// A place in one file that scenarios must reach. In the list, a mark is a line with its name, scenarios and file; lines that begin with <c>- </c>, with the passage, which
/// must occur once; and one line that begins with <c>+ </c>, with the condition under which reaching it counts. Without that line it always counts.
/// </summary>
internal sealed class Mark
{
    private readonly List<string> _passage = [];
    private string _condition = "true";

    private Mark(string name, string scenarios, string file) => (Name, Scenarios, File) = (name, scenarios, file);

    public string Name { get; }

    public string Scenarios { get; }

    public string File { get; }

    /// <summary>The expression that creates the mark for the scenarios.</summary>
    public string Code => $"new(\"{Name}\", \"{Scenarios}\")";

    public static List<Mark> Parse(string list)
    {
        var marks = new List<Mark>();
        foreach (string raw in list.Split('\n'))
        {
            string line = raw.TrimEnd('\r', ' ');
            if (line.Length == 0 || line[0] == '#') continue;
            if (line.StartsWith("- ", System.StringComparison.Ordinal)) marks[marks.Count - 1]._passage.Add(line.Substring(2).Trim());
            else if (line.StartsWith("+ ", System.StringComparison.Ordinal)) marks[marks.Count - 1]._condition = line.Substring(2).Trim();
            else
            {
                string[] words = line.Split([' '], 3);
                marks.Add(new(words[0], words.Length > 2 ? words[1] : "", words[words.Length - 1]));
            }
        }
        return marks;
    }

    /// <summary>
    /// Puts the count before the passage's first line, on the same line; returns what is wrong if it cannot. The passage is looked up in the <paramref name="original"/>,
    /// whatever controls have changed.
    /// </summary>
    public string? Apply(Dictionary<string, string> texts, IReadOnlyDictionary<string, string> original)
    {
        if (!original.TryGetValue(File, out string? text)) return $"there is no file {File}";
        int found = Passage.Find(text.Split('\n'), _passage, File, out string? wrong);
        if (found < 0) return wrong;
        string[] lines = texts[File].Split('\n');
        lines[found] = $"{Weaving.Seams}Reached.At(\"{Name}\", {_condition}); {lines[found]}";
        texts[File] = string.Join("\n", lines);
        return null;
    }
}
