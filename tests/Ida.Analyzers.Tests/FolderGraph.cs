using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ida.Analyzers.Tests;

/// <summary>
/// Which folder of the given sources uses which other one. A folder uses another if one of its files names a type that a file of the other declares. Comments do not count,
/// nor do types that are used without their name, as with <c>var</c>.
/// </summary>
internal sealed class FolderGraph
{
    private readonly SortedDictionary<string, SortedDictionary<string, SortedSet<string>>> _uses = new(StringComparer.Ordinal);

    /// <param name="files">Path and text of each file. The folder is the path without the file name.</param>
    public FolderGraph(IEnumerable<(string Path, string Text)> files)
    {
        var options = CSharpParseOptions.Default.WithLanguageVersion(LanguageVersion.Preview);
        var trees = files.Select(file => CSharpSyntaxTree.ParseText(file.Text, options, file.Path)).ToArray();
        var usings = CSharpSyntaxTree.ParseText("global using System; global using System.Collections.Generic; global using System.IO; global using System.Linq; global using System.Threading; global using System.Threading.Tasks;", options);
        var compilation = Snippet.Compile([.. trees, usings]);
        foreach (var tree in trees)
        {
            string folder = FolderOf(tree);
            _uses.TryAdd(folder, new(StringComparer.Ordinal));
            var model = compilation.GetSemanticModel(tree);
            foreach (var name in tree.GetRoot().DescendantNodes().OfType<SimpleNameSyntax>())
            {
                if (TypeOf(model, name) is not { } type) continue;
                // All parts of a partial type lie in one folder, so its first part gives the folder.
                string other = FolderOf(type.DeclaringSyntaxReferences[0].SyntaxTree);
                if (other == folder) continue;
                if (!_uses[folder].TryGetValue(other, out var names)) _uses[folder].Add(other, names = new(StringComparer.Ordinal));
                names.Add($"{Path.GetFileName(tree.FilePath)} names {type.Name}");
            }
        }
    }

    public IEnumerable<string> Folders => _uses.Keys;

    /// <summary>The folders of each cycle, that is, folders that use each other directly or indirectly, in order and joined by commas.</summary>
    public IEnumerable<string> Cycles()
    {
        var seen = new HashSet<string>(StringComparer.Ordinal);
        foreach (string folder in _uses.Keys)
        {
            if (!seen.Add(folder)) continue;
            var reached = Reached(folder);
            string[] cycle = [.. _uses.Keys.Where(other => other == folder || (reached.Contains(other) && Reached(other).Contains(folder)))];
            seen.UnionWith(cycle);
            if (cycle.Length > 1) yield return string.Join(", ", cycle);
        }
    }

    /// <summary>The names through which one folder uses another.</summary>
    public IEnumerable<string> Uses(string folder, string other) => _uses[folder].TryGetValue(other, out var names) ? names : [];

    private static INamedTypeSymbol? TypeOf(SemanticModel model, SimpleNameSyntax name)
    {
        var type = model.GetSymbolInfo(name).Symbol switch
        {
            INamedTypeSymbol named => named,
            // new T(...) and [T(...)] refer to constructors.
            IMethodSymbol { MethodKind: MethodKind.Constructor } made => made.ContainingType,
            // An extension method is called without the name of its class.
            IMethodSymbol { IsExtensionMethod: true } extension => (extension.ReducedFrom ?? extension).ContainingType,
            _ => null,
        };
        return type?.OriginalDefinition is { DeclaringSyntaxReferences.IsEmpty: false } declared ? declared : null;
    }

    private static string FolderOf(SyntaxTree tree) => Path.GetDirectoryName(tree.FilePath)!.Replace('\\', '/');

    private HashSet<string> Reached(string folder)
    {
        var reached = new HashSet<string>(StringComparer.Ordinal);
        var open = new Queue<string>([folder]);
        while (open.TryDequeue(out string? next))
            foreach (string other in _uses[next].Keys)
                if (reached.Add(other)) open.Enqueue(other);
        return reached;
    }
}
