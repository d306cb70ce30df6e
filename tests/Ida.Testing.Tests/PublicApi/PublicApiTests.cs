using System.Reflection;
using Ida.Tests.Shared;

namespace Ida.Testing.Tests.PublicApi;

/// <summary>
/// The public API of each package is what its PublicAPI.txt says, so that no change of it goes unnoticed. To accept a change, run this class once with IDA_ACCEPT_API=1 and
/// commit the files. Removed and changed lines are breaking changes and belong in CHANGELOG.md.
/// </summary>
public sealed class PublicApiTests
{
    private const string Accept = "IDA_ACCEPT_API";

    [Theory]
    [InlineData("GroupCore"), InlineData("Oracle"), InlineData("Ida"), InlineData("Ida.Testing")]
    public void The_public_api_is_what_the_file_says(string project) =>
        RepositoryFiles.Matches($"src/{project}/PublicAPI.txt", ApiText.Of(Assembly.Load(project)), Accept);

    /// <summary>
    /// The names that the guide keeps for queries (docs/guide/dht.md, "Names of the paper, and names kept for later") must not be used for anything else until then.
    /// </summary>
    [Fact]
    public void Names_that_are_kept_for_later_are_free()
    {
        string[] kept = ["Weak", "CountAsync", "KeysAsync", "EntriesAsync"];
        string page = File.ReadAllText(RepositoryFiles.PathOf("docs/guide/dht.md"));
        Assert.All(kept, name => Assert.Contains($"`{name}`", page, StringComparison.Ordinal));
        Assert.Empty(typeof(Dht).GetMembers().Concat(typeof(DhtMap<,>).GetMembers()).Select(static member => member.Name).Intersect(kept));
    }
}
