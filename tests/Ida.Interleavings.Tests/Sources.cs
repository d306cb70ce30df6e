namespace Ida.Interleavings.Tests;

/// <summary>Files of the repository.</summary>
internal static class Sources
{
    private static readonly string s_root = FindRoot();
    private static readonly Dictionary<string, string[]?> s_classes = [];

    public static string[] Lines(string path) => File.ReadAllLines(Path.Combine(s_root, path));

    public static string Text(string path) => File.ReadAllText(Path.Combine(s_root, path));

    public static bool Has(string path) => File.Exists(Path.Combine(s_root, path));

    /// <summary>The lines of a file under src, by its name; null where there is none, or several.</summary>
    public static string[]? OfClass(string name)
    {
        lock (s_classes)
        {
            if (s_classes.TryGetValue(name, out string[]? lines)) return lines;
            string[] found = name.Length == 0 ? [] : Directory.GetFiles(Path.Combine(s_root, "src"), name, SearchOption.AllDirectories);
            return s_classes[name] = found.Length == 1 ? File.ReadAllLines(found[0]) : null;
        }
    }

    private static string FindRoot()
    {
        string at = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(at, "Ida.sln"))) at = Path.GetDirectoryName(at) ?? throw new DirectoryNotFoundException("The tests run outside of the repository.");
        return at;
    }
}
