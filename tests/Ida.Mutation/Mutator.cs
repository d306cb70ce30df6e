using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ida.Mutation;

/// <summary>
/// Writes mutants into the source of one file, each behind its own switch, so that all of them are built at once. An operator becomes its neighbour, a condition is never or
/// always true, a statement is left out, a constant result becomes the opposite one. Places are counted in the order of the text, so a number always means the same place.
/// </summary>
/// <param name="path">The file, from the root of the tree.</param>
/// <param name="chosen">Maps a place, counted in the order of the file, to the number of its mutant; 0 for none.</param>
internal sealed class Mutator(string path, Func<int, int> chosen) : CSharpSyntaxRewriter
{
    private readonly List<Mutant> _mutants = [];

    /// <summary>Number of places that can be mutated.</summary>
    public int Places { get; private set; }

    /// <summary>The mutants that were put in.</summary>
    public IReadOnlyList<Mutant> Mutants => _mutants;

    public static CSharpParseOptions Language { get; } = new(LanguageVersion.Preview);

    public override SyntaxNode? VisitBinaryExpression(BinaryExpressionSyntax node)
    {
        string[] others = Others(node);
        var numbers = others.Select(other => Take(node, $"{Short(node)} -> {other}")).ToList();
        var visited = (BinaryExpressionSyntax)base.VisitBinaryExpression(node)!;
        string text = Text(visited);
        for (int i = 0; i < others.Length; i++)
            if (numbers[i] > 0) text = $"({Is(numbers[i])} ? ({Text(visited.Left)} {others[i]} {Text(visited.Right)}) : ({text}))";
        return numbers.TrueForAll(static number => number == 0) ? visited : Expression(text, node);
    }

    public override SyntaxNode? VisitIfStatement(IfStatementSyntax node)
    {
        var numbers = TakeCondition(node.Condition);
        var visited = (IfStatementSyntax)base.VisitIfStatement(node)!;
        return visited.WithCondition(Mutated(visited.Condition, numbers));
    }

    public override SyntaxNode? VisitConditionalExpression(ConditionalExpressionSyntax node)
    {
        var numbers = TakeCondition(node.Condition);
        var visited = (ConditionalExpressionSyntax)base.VisitConditionalExpression(node)!;
        return visited.WithCondition(Mutated(visited.Condition, numbers));
    }

    public override SyntaxNode? VisitWhileStatement(WhileStatementSyntax node)
    {
        int never = Take(node.Condition, $"while ({Short(node.Condition)}) -> never");
        var visited = (WhileStatementSyntax)base.VisitWhileStatement(node)!;
        return visited.WithCondition(Mutated(visited.Condition, (never, 0)));
    }

    public override SyntaxNode? VisitExpressionStatement(ExpressionStatementSyntax node)
    {
        int number = node.Expression is AwaitExpressionSyntax ? 0 : Take(node, $"{Short(node)} -> left out");
        var visited = (ExpressionStatementSyntax)base.VisitExpressionStatement(node)!;
        return number == 0 ? visited : Statement($"{{ if (!{Is(number)}) {{ {Text(visited)} }} }}", node);
    }

    public override SyntaxNode? VisitReturnStatement(ReturnStatementSyntax node)
    {
        if (Constant(node.Expression) is not { } value) return base.VisitReturnStatement(node);
        int number = Take(node, $"{Short(node)} -> the other");
        return number == 0 ? node : node.WithExpression(Expression($" {(value ? "!" : "")}{Is(number)}", node.Expression!));
    }

    // A constant of the compiler stays a constant.
    public override SyntaxNode? VisitAttributeList(AttributeListSyntax node) => node;

    public override SyntaxNode? VisitParameter(ParameterSyntax node) => node;

    public override SyntaxNode? VisitEnumMemberDeclaration(EnumMemberDeclarationSyntax node) => node;

    public override SyntaxNode? VisitConstantPattern(ConstantPatternSyntax node) => node;

    public override SyntaxNode? VisitRelationalPattern(RelationalPatternSyntax node) => node;

    public override SyntaxNode? VisitCaseSwitchLabel(CaseSwitchLabelSyntax node) => node;

    public override SyntaxNode? VisitFieldDeclaration(FieldDeclarationSyntax node) => node.Modifiers.Any(SyntaxKind.ConstKeyword) ? node : base.VisitFieldDeclaration(node);

    public override SyntaxNode? VisitLocalDeclarationStatement(LocalDeclarationStatementSyntax node) => node.IsConst ? node : base.VisitLocalDeclarationStatement(node);

    private static string[] Others(BinaryExpressionSyntax node) => node.Kind() switch
    {
        SyntaxKind.EqualsExpression => ["!="],
        SyntaxKind.NotEqualsExpression => ["=="],
        SyntaxKind.LessThanExpression => ["<=", ">="],
        SyntaxKind.LessThanOrEqualExpression => ["<", ">"],
        SyntaxKind.GreaterThanExpression => [">=", "<="],
        SyntaxKind.GreaterThanOrEqualExpression => [">", "<"],
        SyntaxKind.LogicalAndExpression => ["||"],
        SyntaxKind.LogicalOrExpression => ["&&"],
        // Texts can be added but not subtracted.
        SyntaxKind.AddExpression when !IsText(node.Left) && !IsText(node.Right) => ["-"],
        SyntaxKind.SubtractExpression => ["+"],
        SyntaxKind.MultiplyExpression => ["/"],
        SyntaxKind.DivideExpression or SyntaxKind.ModuloExpression => ["*"],
        SyntaxKind.BitwiseAndExpression => ["|"],
        SyntaxKind.BitwiseOrExpression => ["&"],
        SyntaxKind.LeftShiftExpression => [">>"],
        SyntaxKind.RightShiftExpression => ["<<"],
        _ => [],
    };

    private static bool IsText(ExpressionSyntax one) => one.IsKind(SyntaxKind.StringLiteralExpression) || one is InterpolatedStringExpressionSyntax;

    private static bool? Constant(ExpressionSyntax? one) => one?.Kind() switch
    {
        SyntaxKind.TrueLiteralExpression => true,
        SyntaxKind.FalseLiteralExpression => false,
        _ => null,
    };

    private (int Never, int Always) TakeCondition(ExpressionSyntax condition) =>
        (Take(condition, $"{Short(condition)} -> never"), Take(condition, $"{Short(condition)} -> always"));

    // The form keeps the variables that a condition declares assigned where it is true.
    private static ExpressionSyntax Mutated(ExpressionSyntax condition, (int Never, int Always) numbers)
    {
        if (numbers is (0, 0)) return condition;
        string text = $"({Text(condition)})";
        if (numbers.Never > 0) text = $"({text} && !{Is(numbers.Never)})";
        if (numbers.Always > 0) text = $"({text} || {Is(numbers.Always)})";
        return Expression(text, condition);
    }

    private int Take(SyntaxNode node, string change)
    {
        int number = chosen(Places++);
        if (number == 0) return 0;
        var span = node.GetLocation().GetLineSpan();
        _mutants.Add(new(number, path, span.StartLinePosition.Line + 1, span.EndLinePosition.Line + 1, change));
        return number;
    }

    private static string Is(int number) => $"{Switch.Name}.Is({number})";

    private static string Text(SyntaxNode node) => node.WithoutLeadingTrivia().WithoutTrailingTrivia().ToFullString();

    private static string Short(SyntaxNode node)
    {
        string text = string.Join(' ', Text(node).Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));
        return text.Length > 120 ? text[..120] + "…" : text;
    }

    private static ExpressionSyntax Expression(string text, SyntaxNode of) => SyntaxFactory.ParseExpression(text, options: Language).WithTriviaFrom(of);

    private static StatementSyntax Statement(string text, SyntaxNode of) => SyntaxFactory.ParseStatement(text, options: Language).WithTriviaFrom(of);
}
