using Ida.Tests.Shared;

namespace Ida.Packages.Tests;

/// <summary>
/// The first example of the first page of the repository and of each package, and a program to be trimmed, all built from the packages. These are restored from their own
/// folder alone, and the packages that they need from the machine's folder, all into a folder of the programs' own.
/// </summary>
internal sealed class Programs
{
    /// <summary>The address that the pages name.</summary>
    private const string Seed = "127.0.0.1:7700";

    private readonly string _root;

    private Programs(string root) => _root = root;

    /// <summary>The name of each program, the page or file it is on, and the package it uses.</summary>
    public static (string Name, string Page, string Package)[] All { get; } =
    [
        ("FirstPage", "README.md", "Ida"), ("IdaPage", "src/Ida/README.md", "Ida"), ("GroupCorePage", "src/GroupCore/README.md", "Ida.GroupCore"),
        ("OraclePage", "src/Oracle/README.md", "Ida.Oracle"), ("TestingPage", "src/Ida.Testing/README.md", "Ida.Testing"),
        ("Trimmed", "tests/Ida.Packages.Tests/Trimmed/Program.cs", "Ida"),
    ];

    /// <summary>Where processes of one program look for each other: a free address instead of the one on its page.</summary>
    public string Address { get; } = FreePort.Address();

    public static async Task<Programs> BuildAsync(Packages packages)
    {
        var programs = new Programs(packages.NewFolder("programs"));
        programs.Write("nuget.config", $"""
            <configuration>
              <packageSources>
                <clear />
                <add key="ida" value="{packages.Folder}" />
                <add key="machine" value="{MachinePackages.Folder}" />
              </packageSources>
              <packageSourceMapping>
                <packageSource key="ida"><package pattern="Ida" /><package pattern="Ida.*" /></packageSource>
                <packageSource key="machine"><package pattern="*" /></packageSource>
              </packageSourceMapping>
            </configuration>
            """);
        File.Copy(RepositoryFiles.PathOf("global.json"), Path.Combine(programs._root, "global.json"));
        foreach (var (name, page, package) in All)
        {
            programs.Write($"{name}/Program.cs", programs.Code(page));
            programs.Write($"{name}/{name}.csproj", $"""
                <Project Sdk="Microsoft.NET.Sdk">
                  <PropertyGroup>
                    <OutputType>Exe</OutputType>
                    <TargetFramework>net10.0</TargetFramework>
                    <ImplicitUsings>enable</ImplicitUsings>
                    <Nullable>enable</Nullable>
                    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
                    <NuGetAudit>false</NuGetAudit>
                    <RestorePackagesPath>{Path.Combine(programs._root, "restored")}</RestorePackagesPath>
                  </PropertyGroup>
                  <ItemGroup>
                    <PackageReference Include="{package}" Version="{Packages.Version}" />
                  </ItemGroup>
                </Project>
                """);
        }
        programs.Write("Programs.slnx", $"<Solution>{string.Concat(All.Select(static program => $"<Project Path=\"{program.Name}/{program.Name}.csproj\" />"))}</Solution>");
        await Sdk.RunAsync(programs._root, "build", "Programs.slnx");
        return programs;
    }

    /// <summary>The path of a program.</summary>
    public string PathOf(string name) => Path.Combine(_root, name, "bin", "Debug", "net10.0", name);

    private string Code(string page)
    {
        string text = File.ReadAllText(RepositoryFiles.PathOf(page));
        return page.EndsWith(".md", StringComparison.Ordinal) ? text.Split("```csharp\n")[1].Split("```")[0].Replace(Seed, Address, StringComparison.Ordinal) : text;
    }

    private void Write(string file, string text)
    {
        string path = Path.Combine(_root, file);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text);
    }

}
