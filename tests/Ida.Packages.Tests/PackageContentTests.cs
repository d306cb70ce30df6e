using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Security.Cryptography;
using System.Xml.Linq;
using Ida.Tests.Shared;

namespace Ida.Packages.Tests;

/// <summary>What is in a package and its symbols, and what it says about itself.</summary>
public sealed class PackageContentTests(Packages packages)
{
    private static readonly Guid s_embeddedSource = new("0E8A571B-6926-466E-B4AD-8AB04611F5FE");

    /// <summary>The packages, each with its assembly.</summary>
    public static TheoryData<string, string> All { get; } = new() { { "Ida.GroupCore", "GroupCore" }, { "Ida.Oracle", "Oracle" }, { "Ida", "Ida" }, { "Ida.Testing", "Ida.Testing" } };

    [Fact]
    public void The_command_makes_these_packages_and_their_symbols()
    {
        var made = Directory.EnumerateFiles(packages.Folder).Select(static path => Path.GetFileName(path));
        var wanted = All.SelectMany(static row => new[] { "nupkg", "snupkg" }.Select(kind => $"{row.Data.Item1}.{Packages.Version}.{kind}"));
        Assert.Equal(wanted.Order(StringComparer.Ordinal), made.Order(StringComparer.Ordinal));
    }

    [Theory, MemberData(nameof(All))]
    public void A_package_holds_an_assembly_with_its_documentation_a_first_page_and_the_license(string id, string assembly)
    {
        using var package = packages.Open(id);
        Assert.Equal(new[] { "LICENSE", "README.md", $"lib/net10.0/{assembly}.dll", $"lib/net10.0/{assembly}.xml" }, package.Files);
        Assert.Equal(File.ReadAllText(RepositoryFiles.PathOf("LICENSE")), package.Text("LICENSE"));
        Assert.Equal(File.ReadAllText(RepositoryFiles.PathOf($"src/{assembly}/README.md")), package.Text("README.md"));
        Assert.NotEmpty(XDocument.Parse(package.Text($"lib/net10.0/{assembly}.xml")).Descendants("summary"));
    }

    [Theory, MemberData(nameof(All))]
    public void A_package_says_what_it_is_and_of_which_commit(string id, string assembly)
    {
        using var package = packages.Open(id);
        Assert.Equal(id, package.Says("id"));
        Assert.Equal(Packages.Version, package.Says("version"));
        Assert.Equal("The Ida maintainers", package.Says("authors"));
        Assert.Equal("README.md", package.Says("readme"));
        Assert.Equal("Apache-2.0", package.Says("license"));
        Assert.Contains("replication", package.Says("tags"), StringComparison.Ordinal);
        Assert.Contains("CHANGELOG.md", package.Says("releaseNotes"), StringComparison.Ordinal);
        Assert.Equal(XDocument.Load(RepositoryFiles.PathOf($"src/{assembly}/{assembly}.csproj")).Descendants("Description").Single().Value, package.Says("description"));
        var repository = package.Element("repository")!;
        Assert.Equal("git", repository.Attribute("type")?.Value);
        if (Commit() is { } commit) Assert.Equal(commit, repository.Attribute("commit")?.Value);
        if (repository.Attribute("url") is { } url) Assert.StartsWith("https://", url.Value, StringComparison.Ordinal);
    }

    /// <summary>The packages of this repository in exactly one version, since each uses internals of those below it; and none that only serve to build them.</summary>
    [Theory]
    [InlineData("Ida.GroupCore", "")]
    [InlineData("Ida.Oracle", "Ida.GroupCore")]
    [InlineData("Ida", "Ida.Oracle")]
    [InlineData("Ida.Testing", "Ida")]
    public void A_package_depends_on_the_version_that_it_was_built_with(string id, string below)
    {
        using var package = packages.Open(id);
        string logging = XDocument.Load(RepositoryFiles.PathOf("Directory.Packages.props")).Descendants("PackageVersion")
            .Single(static element => element.Attribute("Include")!.Value == "Microsoft.Extensions.Logging.Abstractions").Attribute("Version")!.Value;
        Assert.Equal([below.Length == 0 ? $"Microsoft.Extensions.Logging.Abstractions {logging}" : $"{below} [{Packages.Version}]"], package.Dependencies);
    }

    [Theory, MemberData(nameof(All))]
    public void The_symbols_of_a_package_are_of_its_assembly_and_carry_the_sources(string id, string assembly)
    {
        using PackageFile package = packages.Open(id), symbols = packages.OpenSymbols(id);
        Assert.Equal([$"lib/net10.0/{assembly}.pdb"], symbols.Files);
        using var bytes = symbols.Bytes($"lib/net10.0/{assembly}.pdb");
        using var provider = MetadataReaderProvider.FromPortablePdbStream(bytes);
        using var program = new PEReader(package.Bytes($"lib/net10.0/{assembly}.dll"));
        var entry = program.ReadDebugDirectory().Single(static entry => entry.Type == DebugDirectoryEntryType.CodeView);
        var pdb = provider.GetMetadataReader();
        Assert.Equal(new BlobContentId(pdb.DebugMetadataHeader!.Id), new BlobContentId(program.ReadCodeViewDebugDirectoryData(entry).Guid, entry.Stamp));

        int ofRepository = 0;
        foreach (var document in pdb.Documents)
        {
            string name = pdb.GetString(pdb.GetDocument(document).Name);
            Assert.True(pdb.GetCustomDebugInformation(document).Any(information => pdb.GetGuid(pdb.GetCustomDebugInformation(information).Kind) == s_embeddedSource), name);
            Assert.False(name.StartsWith(RepositoryFiles.Root, StringComparison.Ordinal), name);
            if (!name.StartsWith("/_/src/", StringComparison.Ordinal) || name.Contains("/obj/", StringComparison.Ordinal)) continue;
            ofRepository++;
            Assert.Equal(SHA256.HashData(File.ReadAllBytes(RepositoryFiles.PathOf(name["/_/".Length..]))), pdb.GetBlobBytes(pdb.GetDocument(document).Hash));
        }
        Assert.True(ofRepository > 10, $"{ofRepository} documents of the repository");
    }

    /// <summary>The commit of the tree, read without git; null where the tree is no clone but, say, from an archive.</summary>
    private static string? Commit()
    {
        string git = Path.Combine(RepositoryFiles.Root, ".git");
        if (!Directory.Exists(git)) return null;
        string head = File.ReadAllText(Path.Combine(git, "HEAD")).Trim();
        if (!head.StartsWith("ref: ", StringComparison.Ordinal)) return head;
        string name = head["ref: ".Length..], loose = Path.Combine(git, name);
        return File.Exists(loose) ? File.ReadAllText(loose).Trim() : File.ReadLines(Path.Combine(git, "packed-refs")).Single(line => line.EndsWith($" {name}", StringComparison.Ordinal)).Split(' ')[0];
    }
}
