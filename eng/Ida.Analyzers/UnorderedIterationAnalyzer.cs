using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Ida.Analyzers;

/// <summary>
/// Reports a loop, a query or a spread over a hash table. Its order would depend on hash codes or on the history of the table, and a protocol whose effects follow that order
/// cannot be replayed. Keep a list or a sorted map beside the table for the order.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class UnorderedIterationAnalyzer : DiagnosticAnalyzer
{
    private static readonly DiagnosticDescriptor Rule = new("IDA0001", "Iteration over a hash table",
        "Iterating '{0}' has no defined order: keep a list or a sorted map beside it", "Determinism", DiagnosticSeverity.Error, isEnabledByDefault: true);

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(Rule);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterOperationAction(OnLoop, OperationKind.Loop);
        context.RegisterOperationAction(OnCall, OperationKind.Invocation);
        context.RegisterOperationAction(static spread => Check(spread, ((ISpreadOperation)spread.Operation).Operand), OperationKind.Spread);
    }

    private static void OnLoop(OperationAnalysisContext context)
    {
        if (context.Operation is IForEachLoopOperation loop) Check(context, loop.Collection);
    }

    private static void OnCall(OperationAnalysisContext context)
    {
        var call = (IInvocationOperation)context.Operation;
        if (call.TargetMethod.ContainingType?.Name == "Enumerable" && call.TargetMethod.Name is not ("Contains" or "Count" or "Any" or "All") && call.Arguments.Length > 0)
            Check(context, call.Arguments[0].Value);
    }

    private static void Check(OperationAnalysisContext context, IOperation source)
    {
        while (source is IConversionOperation conversion) source = conversion.Operand;
        if (IsHashTable(source.Type)) context.ReportDiagnostic(Diagnostic.Create(Rule, source.Syntax.GetLocation(), source.Type!.ToDisplayString()));
    }

    private static bool IsHashTable(ITypeSymbol? type)
    {
        if (type is not INamedTypeSymbol { IsGenericType: true } named) return false;
        string space = named.ContainingNamespace?.ToDisplayString() ?? "";
        if (space is not ("System.Collections.Generic" or "System.Collections.Concurrent" or "System.Collections.Frozen" or "System.Collections.Immutable")) return false;
        string name = named.ContainingType is { } outer && named.Name is "KeyCollection" or "ValueCollection" ? named.ContainingType!.Name : named.Name;
        return name is "Dictionary" or "HashSet" or "ConcurrentDictionary" or "FrozenDictionary" or "FrozenSet" or "ImmutableDictionary" or "ImmutableHashSet";
    }
}
