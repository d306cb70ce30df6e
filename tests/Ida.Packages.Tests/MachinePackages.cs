using System.Text.Json;
using Ida.Tests.Shared;

namespace Ida.Packages.Tests;

/// <summary>The machine's folder of packages, which has those that the repository is built with.</summary>
internal static class MachinePackages
{
    private static readonly JsonElement s_assets = JsonDocument.Parse(File.ReadAllText(RepositoryFiles.PathOf("src/GroupCore/obj/project.assets.json"))).RootElement;

    public static string Folder { get; } = s_assets.GetProperty("packageFolders").EnumerateObject().First().Name;

    /// <summary>The folder of a package that the repository is built with.</summary>
    public static string PathOf(string id) => Path.Combine(Folder, s_assets.GetProperty("libraries").EnumerateObject()
        .Single(library => library.Name.StartsWith(id + "/", StringComparison.OrdinalIgnoreCase)).Value.GetProperty("path").GetString()!);
}
