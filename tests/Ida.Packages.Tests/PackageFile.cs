using System.IO.Compression;
using System.Xml.Linq;

namespace Ida.Packages.Tests;

/// <summary>A package: a file of files, and what it says about itself.</summary>
internal sealed class PackageFile(string path) : IDisposable
{
    private readonly ZipArchive _files = ZipFile.OpenRead(path);
    private XElement? _metadata;

    /// <summary>Its files in order, without those that belong to the format of packages.</summary>
    public IEnumerable<string> Files => _files.Entries.Select(static entry => entry.FullName).Where(static name => name != "[Content_Types].xml" && !name.StartsWith("_rels/", StringComparison.Ordinal)
        && !name.StartsWith("package/", StringComparison.Ordinal) && !name.EndsWith(".nuspec", StringComparison.Ordinal)).Order(StringComparer.Ordinal);

    public XElement Metadata => _metadata ??= XDocument.Parse(Text(_files.Entries.Single(static entry => entry.FullName.EndsWith(".nuspec", StringComparison.Ordinal)).FullName)).Root!.Elements().First();

    /// <summary>The text of an element of the metadata; null when there is none.</summary>
    public string? Says(string name) => Element(name)?.Value;

    public XElement? Element(string name) => Metadata.Elements().FirstOrDefault(element => element.Name.LocalName == name);

    /// <summary>What it depends on, each with its range of versions.</summary>
    public IEnumerable<string> Dependencies => Metadata.Descendants().Where(static element => element.Name.LocalName == "dependency")
        .Select(static element => $"{element.Attribute("id")!.Value} {element.Attribute("version")!.Value}");

    public string Text(string file)
    {
        using var reader = new StreamReader(_files.GetEntry(file)!.Open());
        return reader.ReadToEnd();
    }

    public MemoryStream Bytes(string file)
    {
        var bytes = new MemoryStream();
        using (var stream = _files.GetEntry(file)!.Open()) stream.CopyTo(bytes);
        bytes.Position = 0;
        return bytes;
    }

    public void Dispose() => _files.Dispose();
}
