namespace Ida.Tests.Shared;

/// <summary>Files of the repository that tests compare with; an environment variable lets a test rewrite its file.</summary>
internal static class RepositoryFiles
{
    public static string Root { get; } = FindRoot();

    public static string PathOf(string relative) => Path.Combine(Root, relative);

    /// <summary>Fails with the first difference when the file is not <paramref name="expected"/>, unless the variable is 1: then writes it.</summary>
    public static void Matches(string relative, string expected, string acceptVariable)
    {
        string path = PathOf(relative);
        if (Environment.GetEnvironmentVariable(acceptVariable) == "1") File.WriteAllText(path, expected);
        string actual = File.Exists(path) ? File.ReadAllText(path).ReplaceLineEndings("\n") : "";
        if (actual == expected) return;
        string[] wanted = expected.Split('\n'), found = actual.Split('\n');
        IEnumerable<string> differences = found.Except(wanted).Select(l => "- " + l).Concat(wanted.Except(found).Select(l => "+ " + l)).Take(40);
        Assert.Fail($"{relative} does not say what the code does (- file, + code):\n{string.Join('\n', differences)}\n"
            + $"If the change is meant, run this test once with {acceptVariable}=1 and commit the file.");
    }

    private static string FindRoot()
    {
        for (DirectoryInfo? at = new(AppContext.BaseDirectory); at is not null; at = at.Parent)
            if (File.Exists(Path.Combine(at.FullName, "Ida.sln"))) return at.FullName;
        throw new InvalidOperationException("The tests run outside of their repository.");
    }
}
