namespace Ida.Packages.Tests;

/// <summary>
/// Trims a program by the tool that <c>dotnet publish</c> uses with <c>PublishTrimmed</c>, but leaves the framework as it is, so no runtime has to be fetched. Any warning is an error.
/// </summary>
internal static class Trimmer
{
    /// <summary>Trims the program that lies at <paramref name="path"/>, with its assemblies beside it; returns the path of the trimmed one.</summary>
    public static async Task<string> TrimAsync(string path)
    {
        string from = Path.GetDirectoryName(path)!, name = Path.GetFileName(path), into = Path.Combine(from, "trimmed");
        string framework = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        List<string> arguments = ["-a", $"{path}.dll", "entrypoint", "-d", from, "-d", framework, "-out", into, "--trim-mode", "link", "--action", "copy", "--action", "link", name, "--warnaserror",
            // The tool does not read the framework, and would take types that only the framework creates for types that nobody creates.
            "--disable-opt", "unusedtypechecks"];
        foreach (string assembly in Directory.EnumerateFiles(framework, "*.dll")) arguments.AddRange(["--action", "skip", Path.GetFileNameWithoutExtension(assembly)]);
        string all = Path.Combine(from, "trim.rsp");
        await File.WriteAllLinesAsync(all, arguments);
        await Sdk.RunAsync(from, Path.Combine(MachinePackages.PathOf("Microsoft.NET.ILLink.Tasks"), "tools", "net", "illink.dll"), "@" + all);
        foreach (string file in new[] { name, $"{name}.runtimeconfig.json", $"{name}.deps.json" }) File.Copy(Path.Combine(from, file), Path.Combine(into, file));
        return Path.Combine(into, name);
    }
}
