using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ida.Weaver;

/// <summary>The fields that threads share on purpose: volatile ones, and those passed to <c>Volatile</c> or <c>Interlocked</c> anywhere in their outermost type.</summary>
internal sealed class SharedFields
{
    private readonly Dictionary<string, HashSet<string>> _byType = [];

    public static SharedFields Of(IEnumerable<SyntaxNode> roots)
    {
        var all = roots.ToList();
        var declared = new SharedFields();
        var used = new SharedFields();
        foreach (var root in all)
        {
            foreach (var field in root.DescendantNodes().OfType<FieldDeclarationSyntax>())
                foreach (var one in field.Declaration.Variables)
                {
                    declared.Add(field, one.Identifier.Text);
                    if (field.Modifiers.Any(SyntaxKind.VolatileKeyword)) used.Add(field, one.Identifier.Text);
                }
            foreach (var argument in root.DescendantNodes().OfType<ArgumentSyntax>().Where(IsAtomic))
                if (NameOf(argument.Expression) is { } name) used.Add(argument, name);
        }
        foreach (var type in used._byType)
            type.Value.IntersectWith(declared._byType.TryGetValue(type.Key, out var names) ? names : []);
        return used;
    }

    public bool Has(SyntaxNode at, string name) => _byType.TryGetValue(Outermost(at), out var names) && names.Contains(name);

    /// <summary>Whether the argument is the field that <c>Volatile.Read(ref …)</c> and the like work on.</summary>
    public static bool IsAtomic(ArgumentSyntax argument) => argument.RefOrOutKeyword.Kind() is SyntaxKind.RefKeyword or SyntaxKind.InKeyword
        && argument.Parent?.Parent is InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax { Expression: IdentifierNameSyntax { Identifier.Text: "Volatile" or "Interlocked" } } };

    private static string? NameOf(ExpressionSyntax one) => one switch
    {
        IdentifierNameSyntax name => name.Identifier.Text,
        MemberAccessExpressionSyntax member => member.Name.Identifier.Text,
        _ => null,
    };

    private static string Outermost(SyntaxNode node) => node.AncestorsAndSelf().OfType<TypeDeclarationSyntax>().LastOrDefault()?.Identifier.Text ?? "";

    private void Add(SyntaxNode at, string name)
    {
        string type = Outermost(at);
        if (!_byType.TryGetValue(type, out var names)) _byType[type] = names = [];
        names.Add(name);
    }
}
