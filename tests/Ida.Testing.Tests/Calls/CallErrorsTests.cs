using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Testing.Calls;
using Ida.Tests.Shared;
using Oracle;

namespace Ida.Testing.Tests.Calls;

/// <summary>What calls may end with is given by one table, the same in the guide and in the checks.</summary>
public sealed class CallErrorsTests
{
    private const string Heading = "## What a call may end with\n", Guide = "docs/guide/errors.md";

    private const string NextSteps = "### What to do next\n";

    // Events and outcomes that no call throws, and the base class of several errors that calls do throw.
    private static readonly Type[] s_notThrown = [typeof(SlowMemberException), typeof(LayerMismatchException), typeof(DhtException)];

    // Thrown by Dht.Map, which is no operation, or only the inner exception of a fault.
    private static readonly Type[] s_ofNoCall = [typeof(UndeclaredMapException), typeof(MapTypeException), typeof(LayerFaultException)];

    [Fact]
    public void The_guide_says_what_the_checks_allow()
    {
        string path = RepositoryFiles.PathOf(Guide), text = File.ReadAllText(path).ReplaceLineEndings("\n");
        int at = text.IndexOf(Heading, StringComparison.Ordinal);
        Assert.True(at >= 0, $"{Guide} has no \"{Heading.Trim()}\".");
        int table = text.IndexOf("\n|", at, StringComparison.Ordinal) + 1, end = text.IndexOf("\n\n", table, StringComparison.Ordinal) + 1;
        if (end == 0) end = text.Length;
        RepositoryFiles.Matches(Guide, text[..table] + CallErrors.ToMarkdown() + text[end..], "IDA_ACCEPT_ERRORS");
    }

    [Fact]
    public void Every_public_exception_is_in_the_guide_and_ends_some_call()
    {
        string guide = File.ReadAllText(RepositoryFiles.PathOf(Guide));
        var known = Enum.GetValues<CallKind>().SelectMany(CallErrors.Of).ToHashSet();
        foreach (var error in new[] { typeof(Group), typeof(OracleOptions), typeof(Dht) }.SelectMany(static one => one.Assembly.GetExportedTypes()).Where(static type => type.IsAssignableTo(typeof(Exception))))
        {
            if (error.IsAbstract || s_notThrown.Contains(error)) continue;
            Assert.True(guide.Contains(error.Name, StringComparison.Ordinal), $"{error.Name} is not in {Guide}.");
            Assert.True(s_ofNoCall.Contains(error) || known.Any(type => type.IsAssignableFrom(error)), $"{error.Name} ends no call.");
        }
    }

    /// <summary>Each error of a DHT belongs to exactly one class that says what to do next, and the guide lists the error under that class.</summary>
    [Fact]
    public void The_guide_says_what_to_do_next_by_the_classes()
    {
        var errors = typeof(DhtException).Assembly.GetExportedTypes().Where(static type => type.IsSubclassOf(typeof(DhtException))).ToList();
        var classes = errors.FindAll(static type => type.IsAbstract);
        var expected = classes.Select(one => $"{one.Name}: {string.Join(' ', errors.FindAll(type => type.IsSubclassOf(one)).ConvertAll(static type => type.Name).Order(StringComparer.Ordinal))}");
        string page = File.ReadAllText(RepositoryFiles.PathOf(Guide)).ReplaceLineEndings("\n");
        string[] parts = page.Split(NextSteps);
        Assert.Equal(2, parts.Length);
        var listed = parts[1].Split("\n#")[0].Split('\n').Where(static line => line.StartsWith("| `", StringComparison.Ordinal)).Select(static line =>
        {
            string[] cells = line.Split('|', StringSplitOptions.TrimEntries);
            return $"{cells[1].Trim('`')}: {string.Join(' ', cells[3].Split(", ").Select(static name => name.Trim('`')).Order(StringComparer.Ordinal))}";
        });
        Assert.Equal(expected.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
        Assert.All(errors.Where(static type => !type.IsAbstract), type => Assert.Single(classes, type.IsSubclassOf));
    }

    [Fact]
    public void An_error_means_what_its_call_is_told()
    {
        Assert.Equal(ErrorMeaning.NotDone, CallErrors.MeaningOf(CallKind.Put, new OverloadedException(default, "")));
        Assert.Equal(ErrorMeaning.Perhaps, CallErrors.MeaningOf(CallKind.Retry, new OverloadedException(default, "")));
        Assert.Equal(ErrorMeaning.Perhaps, CallErrors.MeaningOf(CallKind.Retry, new OutcomeForgottenException(default, "")));
        Assert.Null(CallErrors.MeaningOf(CallKind.Put, new OutcomeForgottenException(default, "")));
        Assert.Equal(ErrorMeaning.Over, CallErrors.MeaningOf(CallKind.Send, new NodeFaultedException(new FormatException())));
        Assert.Equal(ErrorMeaning.Misuse, CallErrors.MeaningOf(CallKind.Put, new ArgumentNullException()));
        Assert.Null(CallErrors.MeaningOf(CallKind.Dispose, new NodeStoppedException("")));
        Assert.Null(CallErrors.MeaningOf(CallKind.Put, new TimeoutException()));
    }

    [Fact]
    public void What_derives_from_a_common_exception_is_not_taken_for_it()
    {
        Assert.Equal(ErrorMeaning.NotDone, CallErrors.MeaningOf(CallKind.Query, new SendQueueFullException("g", default)));
        Assert.Null(CallErrors.MeaningOf(CallKind.Flush, new JoinRefusedException("g", "")));
        Assert.Null(CallErrors.MeaningOf(CallKind.Enable, new MemberGoneException("g", "m")));
    }

    [Fact]
    public void A_call_is_cancelled_by_its_token_alone()
    {
        Assert.True(CallErrors.Allows(CallKind.Put, new OperationCanceledException(), cancelled: true));
        Assert.False(CallErrors.Allows(CallKind.Put, new OperationCanceledException(), cancelled: false));
    }

    [Fact]
    public void A_careful_program_is_refused_nothing() => Assert.False(CallErrors.Allows(CallKind.Put, new ArgumentNullException(), cancelled: true));

    [Fact]
    public void Every_call_has_its_row()
    {
        string[] rows = [.. CallErrors.ToMarkdown().Split('\n', StringSplitOptions.RemoveEmptyEntries).Skip(2)];
        Assert.Equal(Enum.GetValues<CallKind>().Length, rows.Length);
        Assert.Equal(rows.Length, rows.Distinct().Count());
    }

    [Fact]
    public void Each_kind_finds_its_own_row() => Assert.Equal(Enum.GetValues<CallKind>(), CallErrors.Rows);

    [Fact]
    public void What_no_token_has_cancelled_is_not_documented()
    {
        var cancelled = Task.FromCanceled(new(canceled: true));
        Assert.IsType<TaskCanceledException>(CallErrors.Undocumented(CallKind.Put, cancelled, cancelled: false));
        Assert.Null(CallErrors.Undocumented(CallKind.Put, cancelled, cancelled: true));
        Assert.IsType<TaskCanceledException>(CallErrors.Undocumented(CallKind.Dispose, cancelled, cancelled: true));
    }

    [Fact]
    public void A_handler_that_is_not_registered_is_no_argument()
    {
        Assert.Equal(ErrorMeaning.Misuse, CallErrors.MeaningOf(CallKind.Send, new HandlerNotRegisteredException("g", "h")));
        Assert.Null(CallErrors.MeaningOf(CallKind.Join, new HandlerNotRegisteredException("g", "h")));
    }
}
