using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ida.Weaver;

/// <summary>
/// Puts seams into one file: before each statement, a point at which another thread may run; cells around shared fields, whose writes may become visible late; and the
/// schedule's own locks, threads, thread pool, waits and tokens. The number of lines stays the same.
/// </summary>
internal sealed class Weaving(SharedFields shared) : CSharpSyntaxRewriter
{
    public const string Seams = "global::Ida.Interleavings.Seams.";

    private static readonly Dictionary<string, string> s_replaced = new()
    {
        ["Volatile"] = "VolatileSeam", ["Interlocked"] = "InterlockedSeam", ["ThreadPool"] = "PoolSeam", ["Thread"] = "ThreadSeam", ["SpinWait"] = "SpinSeam",
        ["HostClock"] = "ClockSeam", ["AutoResetEvent"] = "EventSeam", ["ConcurrentQueue"] = "QueueSeam", ["CancellationTokenRegistration"] = "RegistrationSeam",
        ["LateInterrupt"] = "InterruptSeam", ["LibC"] = "LibCSeam",
    };

    // In these methods of a TaskCompletionSource the runtime begins and ends with a full fence. Everything else that fences has a seam that fences itself.
    private static readonly HashSet<string> s_fences = ["SetResult", "SetException", "SetCanceled", "TrySetResult", "TrySetException"];

    // The name of a ManualResetValueTaskSourceCore, which fences only if nobody has awaited it yet.
    private const string NoFence = "_core";

    public override SyntaxNode? VisitFieldDeclaration(FieldDeclarationSyntax node)
    {
        bool isShared = node.Declaration.Variables.Any(one => shared.Has(node, one.Identifier.Text));
        var visited = (FieldDeclarationSyntax)base.VisitFieldDeclaration(node)!;
        if (!isShared) return visited;
        var kept = visited.Modifiers.Where(static one => !one.IsKind(SyntaxKind.VolatileKeyword));
        var type = SyntaxFactory.ParseTypeName($"{Seams}Shared<{visited.Declaration.Type.ToString()}>").WithTriviaFrom(visited.Declaration.Type);
        // Without a modifier, the trivia before the field moves to its type.
        var modifiers = SyntaxFactory.TokenList(kept);
        if (modifiers.Count == 0) type = type.WithLeadingTrivia(visited.GetLeadingTrivia());
        return visited.WithModifiers(modifiers).WithDeclaration(visited.Declaration.WithType(type));
    }

    public override SyntaxNode? VisitIdentifierName(IdentifierNameSyntax node)
    {
        string name = node.Identifier.Text;
        if (s_replaced.TryGetValue(name, out string? seam) && !IsMember(node))
            return node.Parent is MemberAccessExpressionSyntax ? Expression(Seams + seam, node) : SyntaxFactory.ParseTypeName(Seams + seam).WithTriviaFrom(node);
        return !IsMember(node) && IsAccess(node) && shared.Has(node, name) ? Cell(name, node) : node;
    }

    public override SyntaxNode? VisitQualifiedName(QualifiedNameSyntax node) => node.Left is IdentifierNameSyntax left && s_replaced.TryGetValue(left.Identifier.Text, out string? seam)
        ? SyntaxFactory.ParseTypeName($"{Seams}{seam}.{node.Right}").WithTriviaFrom(node)
        : base.VisitQualifiedName(node);

    public override SyntaxNode? VisitGenericName(GenericNameSyntax node)
    {
        var visited = (GenericNameSyntax)base.VisitGenericName(node)!;
        return s_replaced.TryGetValue(node.Identifier.Text, out string? seam)
            ? SyntaxFactory.ParseTypeName($"{Seams}{seam}{visited.TypeArgumentList}").WithTriviaFrom(node)
            : visited;
    }

    public override SyntaxNode? VisitMemberAccessExpression(MemberAccessExpressionSyntax node)
    {
        var visited = (MemberAccessExpressionSyntax)base.VisitMemberAccessExpression(node)!;
        string name = node.Name.Identifier.Text;
        if (name == "UnsafeRegister") return visited.WithName(SyntaxFactory.IdentifierName("RegisterSeam"));
        return node.IsKind(SyntaxKind.SimpleMemberAccessExpression) && IsAccess(node) && IsValue(node.Expression) && shared.Has(node, name) ? Cell(visited.ToString(), node) : visited;
    }

    public override SyntaxNode? VisitInvocationExpression(InvocationExpressionSyntax node)
    {
        var visited = (InvocationExpressionSyntax)base.VisitInvocationExpression(node)!;
        return visited is { ArgumentList.Arguments.Count: 0, Expression: MemberAccessExpressionSyntax { Name.Identifier.Text: "Hold" } hold }
            ? Expression($"{Seams}LockSeam.Enter({hold.Expression})", node)
            : visited;
    }

    public override SyntaxNode? VisitBlock(BlockSyntax node)
    {
        var visited = (BlockSyntax)base.VisitBlock(node)!;
        // An object under construction is not shared yet, and a static constructor runs under a lock of the runtime.
        if (node.Parent is ConstructorDeclarationSyntax) return visited;
        var statements = visited.Statements.SelectMany((one, i) => PointBefore(one, node.Statements[i]));
        return visited.WithStatements(SyntaxFactory.List(statements));
    }

    // Both on the same line.
    private static IEnumerable<StatementSyntax> PointBefore(StatementSyntax visited, StatementSyntax node) => node is LocalFunctionStatementSyntax or BlockSyntax or LabeledStatementSyntax || IsMark(node)
        ? [visited]
        : [Statement(PointOf(node) + " ", node).WithLeadingTrivia(visited.GetLeadingTrivia()).WithoutTrailingTrivia(), visited.WithoutLeadingTrivia()];

    private static string PointOf(StatementSyntax node) => node is not IfStatementSyntax
        && node.DescendantNodes(inner => inner == node || inner is not (LambdaExpressionSyntax or StatementSyntax)).OfType<InvocationExpressionSyntax>().Any(IsFence)
        ? $"{Seams}Explored.Fence();" : $"{Seams}Explored.Point();";

    private static bool IsFence(InvocationExpressionSyntax call) => s_fences.Contains(NameOf(call.Expression))
        && call.Expression is not MemberAccessExpressionSyntax { Expression: IdentifierNameSyntax { Identifier.Text: NoFence } };

    private static bool IsMark(StatementSyntax node) => node is ExpressionStatementSyntax one && one.ToString().StartsWith(Seams + "Reached.", System.StringComparison.Ordinal);

    private static string NameOf(ExpressionSyntax called) => called switch
    {
        MemberAccessExpressionSyntax member => member.Name.Identifier.Text,
        MemberBindingExpressionSyntax member => member.Name.Identifier.Text,
        IdentifierNameSyntax name => name.Identifier.Text,
        _ => "",
    };

    private static bool IsMember(SyntaxNode node) => node.Parent is MemberAccessExpressionSyntax member && member.Name == node
        || node.Parent is QualifiedNameSyntax or NameColonSyntax or NameEqualsSyntax or MemberBindingExpressionSyntax or UsingDirectiveSyntax
        || (node.Parent is AssignmentExpressionSyntax { Parent: InitializerExpressionSyntax } assigned && assigned.Left == node);

    // Excludes the operand of an atomic operation and a mere name.
    private static bool IsAccess(SyntaxNode node) => !(node.Parent is ArgumentSyntax argument && SharedFields.IsAtomic(argument))
        && node.Parent is not (InvocationExpressionSyntax { Expression: IdentifierNameSyntax { Identifier.Text: "nameof" } } or VariableDeclaratorSyntax);

    // Excludes types: `OperationPhase.Sent` is no field of an object.
    private static bool IsValue(ExpressionSyntax one) => one is not IdentifierNameSyntax name || char.IsLower(name.Identifier.Text[0]) || name.Identifier.Text[0] == '_';

    private static ExpressionSyntax Cell(string text, SyntaxNode of) => Expression($"{text}.At(\"{text}\").Value", of);

    private static ExpressionSyntax Expression(string text, SyntaxNode of) => SyntaxFactory.ParseExpression(text).WithTriviaFrom(of);

    private static StatementSyntax Statement(string text, SyntaxNode of) => SyntaxFactory.ParseStatement(text).WithTriviaFrom(of);
}
