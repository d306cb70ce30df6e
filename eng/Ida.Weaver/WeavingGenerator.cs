using System.Collections.Immutable;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Text;

namespace Ida.Weaver;

/// <summary>
/// Emits the additional files of a project a second time: with seams at everything that threads share (<see cref="Weaving"/>), with switches for the rules that its controls
/// leave out (<see cref="Control"/>), and with counters at the places that scenarios must reach (<see cref="Mark"/>).
/// </summary>
[Generator(LanguageNames.CSharp)]
public sealed class WeavingGenerator : IIncrementalGenerator
{
    private const string Controls = "Controls.txt", Marks = "Reached.txt";
    private static readonly DiagnosticDescriptor s_stale = new(
        "IDA0100", "Control", "'{0}' does not fit: {1}", "Weaving", DiagnosticSeverity.Error, isEnabledByDefault: true);

    /// <inheritdoc/>
    public void Initialize(IncrementalGeneratorInitializationContext context) =>
        context.RegisterSourceOutput(context.AdditionalTextsProvider.Collect(), static (output, files) => Emit(output, files));

    private static void Emit(SourceProductionContext output, ImmutableArray<AdditionalText> files)
    {
        var texts = new Dictionary<string, string>();
        foreach (var file in files.Where(static file => file.Path.EndsWith(".cs", System.StringComparison.Ordinal)))
            texts[Path.GetFileName(file.Path)] = file.GetText()!.ToString();
        var original = new Dictionary<string, string>(texts);
        var controls = Control.Parse(TextOf(files, Controls));
        foreach (var control in controls)
            if (control.Apply(texts, controls) is { } wrong) output.ReportDiagnostic(Diagnostic.Create(s_stale, Location.None, control.Name, wrong));
        var marks = Mark.Parse(TextOf(files, Marks));
        foreach (var mark in marks)
            if (mark.Apply(texts, original) is { } wrong) output.ReportDiagnostic(Diagnostic.Create(s_stale, Location.None, mark.Name, wrong));
        var options = new CSharpParseOptions(LanguageVersion.Preview);
        var roots = texts.OrderBy(static text => text.Key, System.StringComparer.Ordinal)
            .Select(text => (Name: text.Key, Root: CSharpSyntaxTree.ParseText(text.Value, options).GetRoot())).ToList();
        var shared = SharedFields.Of(roots.Select(static one => one.Root));
        foreach (var (name, root) in roots)
        {
            string code = new Weaving(shared).Visit(root).ToFullString();
            if (Lines(code) != Lines(original[name])) output.ReportDiagnostic(Diagnostic.Create(s_stale, Location.None, name, "weaving changed the number of lines"));
            output.AddSource(name.Replace('{', '(').Replace('}', ')').Replace(".cs", ".g.cs"), SourceText.From($"#nullable enable\n#pragma warning disable\n#line 1 \"{name}\"\n{code}", Encoding.UTF8));
        }
        string all = string.Join(", ", controls.Where(static control => !control.IsFigure).Select(static control => control.Code));
        output.AddSource("Omitted.g.cs", SourceText.From($"namespace Ida.Interleavings.Seams;\ninternal static partial class Omitted\n{{\n    public static readonly Control[] All = [{all}];\n}}\n", Encoding.UTF8));
        string places = string.Join(", ", marks.Select(static mark => mark.Code));
        output.AddSource("Reached.g.cs", SourceText.From($"namespace Ida.Interleavings.Seams;\ninternal static partial class Reached\n{{\n    public static readonly Place[] Places = [{places}];\n}}\n", Encoding.UTF8));
    }

    private static string TextOf(ImmutableArray<AdditionalText> files, string name) =>
        files.FirstOrDefault(file => Path.GetFileName(file.Path) == name)?.GetText()?.ToString() ?? "";

    private static int Lines(string text) => text.Count(static letter => letter == '\n');
}
