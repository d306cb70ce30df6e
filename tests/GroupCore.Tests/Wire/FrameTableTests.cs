using System.Globalization;
using System.Text.RegularExpressions;
using GroupCore.Wire;
using Ida.Tests.Shared;

namespace GroupCore.Tests.Wire;

/// <summary>docs/frames.md says of each type of frame who may send it, and names the code that holds others to it.</summary>
public sealed partial class FrameTableTests
{
    private const string OfDht = "\n## Frames of the DHT\n";
    private static readonly string[] s_parts = File.ReadAllText(RepositoryFiles.PathOf("docs/frames.md")).Split(OfDht);

    [Fact]
    public void Each_frame_of_nodes_groups_and_the_Oracle_has_its_row() =>
        Assert.Equal(Enum.GetValues<FrameType>().Where(static type => type is not (FrameType.None or FrameType.FirstLayer or FrameType.LastLayer)).Select(static type => $"{type} {(byte)type}"), Rows(s_parts[0]));

    [Fact]
    public void Each_frame_of_the_DHT_has_its_row() => Assert.Equal(DhtFrameNames.All.Select(static one => $"{one.Name} {(byte)one.Type}"), Rows(s_parts[1]));

    [Fact]
    public void The_code_that_is_named_is_there()
    {
        var files = Directory.EnumerateFiles(RepositoryFiles.PathOf("src"), "*.cs", SearchOption.AllDirectories).Where(static path => !path.Contains("/obj/", StringComparison.Ordinal)).ToLookup(static path => Path.GetFileName(path).Split('.')[0]);
        var named = s_parts.SelectMany(static part => Row().Matches(part)).Select(static row => (Type: row.Groups["class"].Value, Method: row.Groups["method"].Value)).ToList();
        Assert.NotEmpty(named);
        Assert.All(named, one => Assert.Contains(files[one.Type], path => File.ReadAllText(path).Contains($" {one.Method}(", StringComparison.Ordinal)));
    }

    /// <summary>A reason that is misspelt would send its reader to a counter that does not exist.</summary>
    [Fact]
    public void What_happens_otherwise_is_a_reason_that_there_is() =>
        Assert.All(s_parts.SelectMany(static part => Row().Matches(part)).SelectMany(static row => Reason().Matches(row.Groups["otherwise"].Value)), static reason => Assert.True(Enum.TryParse<GroupCore.Runtime.RefusalReason>(reason.Value, out _), reason.Value));

    private static IEnumerable<string> Rows(string part) => Row().Matches(part).Select(static row => string.Create(CultureInfo.InvariantCulture, $"{row.Groups["name"].Value} {row.Groups["number"].Value}"));

    [GeneratedRegex(@"^\| (?<name>\w+) \| (?<number>\d+) \| [^|]+ \| `(?<class>\w+)\.(?<method>\w+)` \| (?<otherwise>[^|]+) \|", RegexOptions.Multiline | RegexOptions.ExplicitCapture)]
    private static partial Regex Row();

    [GeneratedRegex(@"\b[A-Z]\w+")]
    private static partial Regex Reason();
}
