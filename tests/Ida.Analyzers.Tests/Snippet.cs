using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Ida.Analyzers.Tests;

/// <summary>Compiles text against the assemblies that this process runs on.</summary>
internal static class Snippet
{
    private const string Usings = "using System; using System.Collections.Concurrent; using System.Collections.Frozen; using System.Collections.Generic; using System.Collections.Immutable; using System.Linq; using System.Threading;\n";

    private static readonly MetadataReference[] s_references =
        [.. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator).Select(path => MetadataReference.CreateFromFile(path))];

    public static CSharpCompilation Compile(string code) => Compile([CSharpSyntaxTree.ParseText(Usings + code)]);

    public static CSharpCompilation Compile(SyntaxTree[] trees) => CSharpCompilation.Create("snippet", trees, s_references, new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary));

    /// <summary>What an analyzer reports in a method body, as the reported text; the snippet itself must compile.</summary>
    public static async Task<string[]> ReportsInAsync<TAnalyzer>(string id, string parameters, string body)
        where TAnalyzer : DiagnosticAnalyzer, new()
    {
        var compilation = Compile($"class C {{ static object? M({parameters}) {{ {body} return null; }} }}");
        Assert.Empty(compilation.GetDiagnostics().Where(d => d.Severity == DiagnosticSeverity.Error));
        var reports = await compilation.WithAnalyzers([new TAnalyzer()]).GetAnalyzerDiagnosticsAsync();
        return [.. reports.Select(report =>
        {
            Assert.Equal((id, DiagnosticSeverity.Error), (report.Id, report.Severity));
            return report.Location.SourceTree!.ToString().Substring(report.Location.SourceSpan.Start, report.Location.SourceSpan.Length);
        })];
    }
}
