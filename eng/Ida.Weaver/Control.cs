using System.Text.RegularExpressions;

namespace Ida.Weaver;

/// <summary>
/// A rule that can be left out: a passage of one file, and what replaces it, in which <c>OMITTED</c> says whether the rule is left out now. In the list, a control is a line
/// with its name and file; a line that begins with <c>? </c>, with the scenario that notices the omission, a seed that shows it and what goes wrong; lines that begin with
/// <c>- </c>, with the passage, which must occur once; and lines that begin with <c>+ </c>, with the replacement. Without the <c>?</c> line it is a figure, whose replacement
/// always applies. Without the <c>-</c> and <c>+</c> lines it is part of another listed passage, which contains <c>OMITTED(name)</c>.
/// </summary>
internal sealed class Control
{
    private static readonly Regex s_noticed = new(@"^(\S+) (\d+): (.+)$");
    private const string Switch = "OMITTED";
    private static readonly Regex s_other = new(Switch + @"\(([a-z-]+)\)");
    private readonly List<string> _old = [], _new = [];
    private string? _noticed;

    private Control(string name, string file) => (Name, File) = (name, file);

    public string Name { get; }

    public string File { get; }

    /// <summary>Whether the replacement always applies.</summary>
    public bool IsFigure => _noticed is null;

    /// <summary>The expression that creates the control for the scenarios; null if its <c>?</c> line is malformed.</summary>
    public string? Code => s_noticed.Match(_noticed!) is { Success: true, Groups: var groups } ? $"new(\"{Name}\", \"{groups[1]}\", {groups[2]}, \"{groups[3]}\")" : null;

    public static List<Control> Parse(string list)
    {
        var controls = new List<Control>();
        foreach (string raw in list.Split('\n'))
        {
            string line = raw.TrimEnd('\r', ' ');
            if (line.Length == 0 || line[0] == '#') continue;
            if (line.StartsWith("? ", System.StringComparison.Ordinal)) controls[controls.Count - 1]._noticed = line.Substring(2);
            else if (line.StartsWith("- ", System.StringComparison.Ordinal)) controls[controls.Count - 1]._old.Add(line.Substring(2).Trim());
            else if (line.StartsWith("+ ", System.StringComparison.Ordinal)) controls[controls.Count - 1]._new.Add(line.Substring(2).Trim());
            else controls.Add(new(line.Substring(0, line.IndexOf(' ')), line.Substring(line.IndexOf(' ') + 1)));
        }
        return controls;
    }

    /// <summary>Puts the switch in; returns what is wrong if it cannot. The number of lines stays the same.</summary>
    public string? Apply(Dictionary<string, string> texts, List<Control> all)
    {
        if (!IsFigure && Code is null) return "its second line is not '? scenario seed: what goes wrong'";
        if (!IsFigure && _old.Count + _new.Count == 0) return all.Exists(control => control.File == File && control._new.Exists(line => line.Contains($"{Switch}({Name})"))) ? null : "no passage has it";
        if (_new.Exists(static line => line.Contains(Switch)) == IsFigure) return IsFigure ? "no '?' line names the scenario that notices it" : $"what replaces it has no {Switch}";
        if (!texts.TryGetValue(File, out string? text)) return $"there is no file {File}";
        string[] lines = text.Split('\n');
        int found = Passage.Find(lines, _old, File, out string? wrong);
        if (found < 0) return wrong;
        string put = s_other.Replace(string.Join(" ", _new), Omits("$1")).Replace(Switch, Omits(Name));
        for (int k = 0; k < _old.Count; k++) lines[found + k] = k == 0 ? put : "";
        texts[File] = string.Join("\n", lines);
        return null;
    }

    private static string Omits(string name) => $"{Weaving.Seams}Omitted.Is(\"{name}\")";
}
