namespace Ida.Weaver;

/// <summary>
/// A rule that can be left out: text of one file, and what stands there instead, where <c>OMITTED</c> is whether it is left out now. In the list: a line with name and
/// file, lines with <c>- </c> of what stands there once, and lines with <c>+ </c> of what replaces it.
/// </summary>
internal sealed class Control
{
    private readonly List<string> _old = [], _new = [];

    private Control(string name, string file) => (Name, File) = (name, file);

    public string Name { get; }

    public string File { get; }

    public static List<Control> Parse(string list)
    {
        var controls = new List<Control>();
        foreach (string raw in list.Split('\n'))
        {
            string line = raw.TrimEnd('\r', ' ');
            if (line.Length == 0 || line[0] == '#') continue;
            if (line.StartsWith("- ", System.StringComparison.Ordinal)) controls[controls.Count - 1]._old.Add(line.Substring(2).Trim());
            else if (line.StartsWith("+ ", System.StringComparison.Ordinal)) controls[controls.Count - 1]._new.Add(line.Substring(2).Trim());
            else controls.Add(new(line.Substring(0, line.IndexOf(' ')), line.Substring(line.IndexOf(' ') + 1)));
        }
        return controls;
    }

    /// <summary>Puts the switch in; says what is wrong when it cannot. Lines stay where they are.</summary>
    public string? Apply(Dictionary<string, string> texts)
    {
        if (!texts.TryGetValue(File, out string? text)) return $"there is no file {File}";
        string[] lines = text.Split('\n');
        int found = -1;
        for (int i = 0; i + _old.Count <= lines.Length; i++)
        {
            int at = i;
            if (!_old.Select((old, k) => lines[at + k].Trim() == old).All(static same => same)) continue;
            if (found >= 0) return $"its lines stand in {File} twice";
            found = i;
        }
        if (_old.Count == 0 || found < 0) return $"its lines do not stand in {File}";
        string put = string.Join(" ", _new).Replace("OMITTED", $"global::Ida.Interleavings.Seams.Omitted.Is(\"{Name}\")");
        for (int k = 0; k < _old.Count; k++) lines[found + k] = k == 0 ? put : "";
        texts[File] = string.Join("\n", lines);
        return null;
    }
}
