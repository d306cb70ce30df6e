using Ida.Tests.Shared;
using Microsoft.CodeAnalysis;

namespace Ida.Analyzers.Tests;

/// <summary>
/// BannedSymbols.txt names every symbol that it is meant to ban. A name that resolves to nothing bans nothing, and an overload that is not named is allowed; a build shows
/// neither.
/// </summary>
public sealed class BannedSymbolsTests
{
    private static readonly string[] s_lines = File.ReadAllLines(RepositoryFiles.PathOf("BannedSymbols.txt"));
    private static readonly Compilation s_platform = Snippet.Compile("");

    [Fact]
    public void Each_line_names_a_symbol_that_exists_once_and_says_what_to_do_instead()
    {
        Assert.NotEmpty(s_lines);
        foreach (string line in s_lines)
        {
            string[] parts = line.Split(';', 2);
            Assert.True(parts is [_, { Length: > 20 }], line);
            Assert.True(DocumentationCommentId.GetFirstSymbolForDeclarationId(parts[0], s_platform) is not null, $"Nothing is called {parts[0]}.");
        }
        Assert.Equal(s_lines.Length, s_lines.Select(Id).Distinct(StringComparer.Ordinal).Count());
    }

    /// <summary>Either the type itself is banned, or all of its public members of that name are.</summary>
    [Theory]
    [InlineData("System.DateTime", "Now")]
    [InlineData("System.DateTime", "UtcNow")]
    [InlineData("System.DateTime", "Today")]
    [InlineData("System.DateTimeOffset", "Now")]
    [InlineData("System.DateTimeOffset", "UtcNow")]
    [InlineData("System.Environment", "TickCount")]
    [InlineData("System.Environment", "TickCount64")]
    [InlineData("System.TimeProvider", "System")]
    [InlineData("System.Diagnostics.Stopwatch", "GetTimestamp")]
    public void No_clock(string type, string member) => AssertBanned(type, member);

    [Theory]
    [InlineData("System.Threading.Thread", "Sleep")]
    [InlineData("System.Threading.Tasks.Task", "Delay")]
    [InlineData("System.Threading.Timer", ".ctor")]
    [InlineData("System.Timers.Timer", ".ctor")]
    [InlineData("System.Threading.PeriodicTimer", ".ctor")]
    [InlineData("System.Threading.CancellationTokenSource", "CancelAfter")]
    public void No_sleep_and_no_timer(string type, string member) => AssertBanned(type, member);

    [Theory]
    [InlineData("System.Random", "Shared")]
    [InlineData("System.Random", ".ctor")]
    [InlineData("System.Guid", "NewGuid")]
    [InlineData("System.Guid", "CreateVersion7")]
    [InlineData("System.Security.Cryptography.RandomNumberGenerator", "GetBytes")]
    [InlineData("System.HashCode", "Combine")]
    public void No_ambient_randomness(string type, string member) => AssertBanned(type, member);

    [Theory]
    [InlineData("System.Threading.Tasks.Task", "Run")]
    [InlineData("System.Threading.Tasks.TaskFactory", "StartNew")]
    [InlineData("System.Threading.Tasks.Parallel", "For")]
    [InlineData("System.Threading.ThreadPool", "QueueUserWorkItem")]
    [InlineData("System.Threading.Thread", ".ctor")]
    [InlineData("System.Threading.Thread", "Start")]
    [InlineData("System.Threading.Thread", "UnsafeStart")]
    public void No_thread_and_no_pool(string type, string member) => AssertBanned(type, member);

    private static void AssertBanned(string type, string member)
    {
        var named = s_lines.Select(Id).ToHashSet(StringComparer.Ordinal);
        var symbol = s_platform.GetTypeByMetadataName(type)!;
        var members = symbol.GetMembers(member).Where(m => m.DeclaredAccessibility == Accessibility.Public).Select(m => m.GetDocumentationCommentId()!).ToList();
        Assert.NotEmpty(members);
        if (!named.Contains(symbol.GetDocumentationCommentId()!)) Assert.All(members, id => Assert.Contains(id, named));
    }

    private static string Id(string line) => line.Split(';')[0];
}
