namespace Ida.Testing;

/// <summary>The command that runs one test of the running test program again.</summary>
internal static class ReplayCommand
{
    private static readonly Lazy<string> s_project = new(static () => Project(AppContext.BaseDirectory));

    public static string For(ulong seed, string test) => $"IDA_SEED={seed} dotnet run --project {s_project.Value} -- --filter-method \"{test}\"";

    /// <summary>
    /// The folder of the project whose output is <paramref name="output"/>, as seen from the root of its repository or solution; a dot when
    /// there is none above.
    /// </summary>
    public static string Project(string output)
    {
        var project = new DirectoryInfo(output);
        while (project is not null && project.GetFiles("*.csproj").Length == 0) project = project.Parent;
        var root = project;
        while (root is not null && !Directory.Exists(Path.Combine(root.FullName, ".git")) && !File.Exists(Path.Combine(root.FullName, ".git")) && root.GetFiles("*.sln*").Length == 0) root = root.Parent;
        return project is null || root is null ? "." : Path.GetRelativePath(root.FullName, project.FullName).Replace('\\', '/');
    }
}
