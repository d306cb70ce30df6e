using System.Text.RegularExpressions;

namespace Ida.Weaver;

/// <summary>
/// A rule that can be left out: text of one file, and what stands there instead, where <c>OMITTED</c> is whether it is left out now. In the list: a line with name and
/// file, one with <c>? </c> of the scenario that notices it, a seed that shows it and what goes wrong then, lines with <c>- </c> of what stands there once, and lines with
/// <c>+ </c> of what replaces it. Without the second line it is a figure: what replaces it stands there always. Without the last ones it is another part of a passage that is listed: <c>OMITTED(name)</c> there.
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

    /// <summary>Whether what replaces it stands there always.</summary>
    public bool IsFigure => _noticed is null;

    /// <summary>What makes one of the type that the scenarios look at; null where its line of who notices it is none.</summary>
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

    /// <summary>Puts the switch in; says what is wrong when it cannot. Lines stay where they are.</summary>
    public string? Apply(Dictionary<string, string> texts, List<Control> all)
    {
        if (!IsFigure && Code is null) return "its second line is not '? scenario seed: what goes wrong'";
        if (!IsFigure && _old.Count + _new.Count == 0) return all.Exists(control => control.File == File && control._new.Exists(line => line.Contains($"{Switch}({Name})"))) ? null : "no passage has it";
        if (_new.Exists(static line => line.Contains(Switch)) == IsFigure) return IsFigure ? "nothing says who notices it" : $"what replaces it has no {Switch}";
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
