using System.Reflection;

namespace Ida.Testing.Tests.PublicApi;

/// <summary>
/// The public API of each package is what its PublicAPI.txt says, so that no change of it goes unseen. To accept a change, run this class
/// once with IDA_ACCEPT_API=1 and commit the files: removed and changed lines are breaking changes and belong into CHANGELOG.md.
/// </summary>
public sealed class PublicApiTests
{
    private const string Accept = "IDA_ACCEPT_API";

    [Theory]
    [InlineData("GroupCore"), InlineData("Oracle"), InlineData("Ida"), InlineData("Ida.Testing")]
    public void The_public_api_is_what_the_file_says(string project)
    {
        string path = Path.Combine(Root(), "src", project, "PublicAPI.txt");
        string now = ApiText.Of(Assembly.Load(project));
        if (Environment.GetEnvironmentVariable(Accept) == "1") File.WriteAllText(path, now);
        string said = File.Exists(path) ? File.ReadAllText(path).ReplaceLineEndings("\n") : "";
        if (said == now) return;
        string[] old = said.Split('\n'), actual = now.Split('\n');
        string[] differences = [.. old.Except(actual).Select(l => "- " + l), .. actual.Except(old).Select(l => "+ " + l)];
        Assert.Fail($"The public API of {project} is not what src/{project}/PublicAPI.txt says ({differences.Length} lines; - file, + code):\n"
            + string.Join('\n', differences.Take(60)) + $"\nIf the change is meant, run the tests of this class once with {Accept}=1 and commit the file.");
    }

    private static string Root()
    {
        for (DirectoryInfo? at = new(AppContext.BaseDirectory); at is not null; at = at.Parent)
            if (File.Exists(Path.Combine(at.FullName, "Ida.sln"))) return at.FullName;
        throw new InvalidOperationException("The tests run outside of their repository.");
    }
}
