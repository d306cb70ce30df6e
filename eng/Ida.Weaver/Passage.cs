namespace Ida.Weaver;

/// <summary>Lines that must occur exactly once in a file.</summary>
internal static class Passage
{
    /// <summary>The index of the first line; −1, and what is wrong, if the lines do not occur or occur twice.</summary>
    public static int Find(string[] lines, List<string> passage, string file, out string? wrong)
    {
        int found = -1;
        wrong = null;
        for (int i = 0; passage.Count > 0 && i + passage.Count <= lines.Length; i++)
        {
            int at = i;
            if (!passage.Select((line, k) => lines[at + k].Trim() == line).All(static same => same)) continue;
            if (found >= 0) wrong = $"its lines occur in {file} twice";
            found = i;
        }
        if (found < 0) wrong = $"its lines do not occur in {file}";
        return wrong is null ? found : -1;
    }
}
