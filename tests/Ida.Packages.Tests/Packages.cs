using System.Xml.Linq;
using Ida.Tests.Shared;

namespace Ida.Packages.Tests;

/// <summary>The packages, made by the command of CONTRIBUTING.md, once for all tests, into a folder that is deleted at the end; and the programs that use them.</summary>
public sealed class Packages : IAsyncLifetime
{
    private readonly string _root = Directory.CreateTempSubdirectory("ida-packages-").FullName;
    private readonly Lazy<Task<Programs>> _programs;

    public Packages() => _programs = new(() => Programs.BuildAsync(this));

    /// <summary>The version of all of them.</summary>
    public static string Version { get; } = XDocument.Load(RepositoryFiles.PathOf("Directory.Build.props")).Descendants("Version").Single().Value;

    /// <summary>The folder that the command fills.</summary>
    public string Folder => Path.Combine(_root, "packages");

    internal PackageFile Open(string id) => new(Path.Combine(Folder, $"{id}.{Version}.nupkg"));

    internal PackageFile OpenSymbols(string id) => new(Path.Combine(Folder, $"{id}.{Version}.snupkg"));

    /// <summary>A new folder of that name.</summary>
    internal string NewFolder(string name) => Directory.CreateDirectory(Path.Combine(_root, name)).FullName;

    /// <summary>The examples of all first pages, built from the packages when the first test asks for them.</summary>
    internal Task<Programs> ProgramsAsync() => _programs.Value;

    public async ValueTask InitializeAsync() =>
        await Sdk.RunAsync(RepositoryFiles.Root, "pack", "src/Packages.slnf", "--no-restore", $"-p:PackageOutputPath={Folder}/");

    public ValueTask DisposeAsync()
    {
        Directory.Delete(_root, recursive: true);
        return default;
    }
}
