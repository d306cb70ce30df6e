namespace Ida.Weaver;

/// <summary>
/// A place of one file that scenarios have to come to. In the list: a line with name, scenarios and file, lines with <c>- </c> of what stands there once, and one with <c>+ </c>
/// of when it counts; without that it counts always.
/// </summary>
internal sealed class Mark
{
    private readonly List<string> _passage = [];
    private string _condition = "true";

    private Mark(string name, string scenarios, string file) => (Name, Scenarios, File) = (name, scenarios, file);

    public string Name { get; }

    public string Scenarios { get; }

    public string File { get; }

    /// <summary>What makes one of the type that the scenarios look at.</summary>
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

    /// <summary>Counts before its first line, which stays where it is; says what is wrong when it cannot. The lines are those of the <paramref name="original"/>, whatever controls have put there.</summary>
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
