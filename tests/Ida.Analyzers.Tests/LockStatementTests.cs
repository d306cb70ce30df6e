namespace Ida.Analyzers.Tests;

/// <summary>IDA0002 reports each lock statement, whatever it locks, and nothing else that enters a lock.</summary>
public sealed class LockStatementTests
{
    [Theory]
    [InlineData("object gate")]
    [InlineData("Lock gate")]
    public async Task A_lock_statement_is_reported(string parameter) =>
        Assert.Equal(["gate"], await ReportsInAsync(parameter, "lock (gate) Console.WriteLine();"));

    [Fact]
    public async Task A_scope_is_not_reported() => Assert.Empty(await ReportsInAsync("Lock gate", "using (gate.EnterScope()) Console.WriteLine();"));

    private static Task<string[]> ReportsInAsync(string parameters, string body) => Snippet.ReportsInAsync<LockStatementAnalyzer>("IDA0002", parameters, body);
}
