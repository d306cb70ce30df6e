using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Ida.Analyzers;

/// <summary>
/// Reports a lock statement. An interrupt ends a lock statement's wait with an exception. Any thread may be running a node's turn at that moment, so the exception would end
/// the node. <c>Hold</c> keeps the interrupt for later.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class LockStatementAnalyzer : DiagnosticAnalyzer
{
    private static readonly DiagnosticDescriptor Rule = new("IDA0002", "A lock statement",
        "An interrupt ends the wait for '{0}' with an exception: use a System.Threading.Lock and its Hold()", "Reliability", DiagnosticSeverity.Error, isEnabledByDefault: true);

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(Rule);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterOperationAction(static found =>
        {
            var locked = ((ILockOperation)found.Operation).LockedValue;
            found.ReportDiagnostic(Diagnostic.Create(Rule, locked.Syntax.GetLocation(), locked.Syntax.ToString()));
        }, OperationKind.Lock);
    }
}
