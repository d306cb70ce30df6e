using System.Globalization;
using System.Text;
using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire.MessagePack;

namespace Ida.Testing.Calls;

/// <summary>
/// What each call may end with, and what that says of the call: the guide's table (docs/guide/errors.md, "What a call may end with"), which a test compares with this one.
/// </summary>
internal static class CallErrors
{
    private static readonly Type[] s_over = [typeof(NotMemberException), typeof(GroupOverloadedException), typeof(ExcludedException), typeof(NodeStoppedException)];
    private static readonly Type[] s_sending = [typeof(HandlerNotRegisteredException), typeof(WrongHandlerTypeException), typeof(MessageTooLargeException), typeof(ArgumentException)];
    private static readonly Type[] s_asking = [.. s_sending, typeof(InvalidOperationException)];
    private static readonly Type[] s_dhtOver = [typeof(NotDhtMemberException), typeof(ShardDepopulatedException), typeof(NodeFaultedException)];
    private static readonly Type[] s_dhtMisuse = [typeof(DhtConfigurationException), typeof(UnsupportedTypeException), typeof(ValueTooLargeException), typeof(UserCodeException), typeof(ArgumentException)];
    private static readonly Type s_cancelled = typeof(OperationCanceledException);
    private static readonly Type[] s_dhtNotDone = [typeof(OverloadedException), typeof(OperationNotExecutedException), typeof(MapNotAgreedException), typeof(ViewUnavailableException), s_cancelled];

    private static readonly Row[] s_rows =
    [
        new(CallKind.Start, [typeof(InsecureBindException), typeof(ArgumentException)], [typeof(AddressInUseException), typeof(ClusterUnreachableException), s_cancelled], [], [typeof(ExcludedException), typeof(NodeStoppedException)]),
        new(CallKind.Stop, [], [], [], []),
        new(CallKind.Describe, [], [s_cancelled], [], []),
        new(CallKind.Join, [typeof(ArgumentException), typeof(ContractException), typeof(InvalidOperationException)], [typeof(JoinTimeoutException), typeof(JoinRefusedException), s_cancelled], [], s_over),
        new(CallKind.Leave, [], [], [s_cancelled], [typeof(NodeStoppedException)]),
        new(CallKind.Dispose, [], [], [], []),
        new(CallKind.Send, s_sending, [typeof(SendQueueFullException), s_cancelled], [], s_over),
        new(CallKind.OrderedSend, s_sending, [typeof(SendQueueFullException), s_cancelled], [], s_over),
        new(CallKind.SendTo, s_sending, [typeof(SendQueueFullException), typeof(MemberGoneException), s_cancelled], [], s_over),
        new(CallKind.Query, s_asking, [typeof(SendQueueFullException)], [typeof(QueryTimeoutException), typeof(TooFewRepliesException), typeof(QueryAbortedException), s_cancelled], s_over),
        new(CallKind.OrderedQuery, s_asking, [typeof(SendQueueFullException)], [typeof(QueryTimeoutException), typeof(TooFewRepliesException), typeof(QueryAbortedException), s_cancelled], s_over),
        new(CallKind.QueryTo, s_asking, [typeof(SendQueueFullException), typeof(MemberGoneException)], [typeof(QueryTimeoutException), typeof(TooFewRepliesException), typeof(QueryAbortedException), s_cancelled], s_over),
        new(CallKind.Flush, [typeof(InvalidOperationException)], [], [s_cancelled], s_over),
        new(CallKind.Views, [], [], [s_cancelled], s_over),
        new(CallKind.Enable, [typeof(DhtConfigurationException), typeof(InvalidOperationException), typeof(ArgumentException)], [typeof(DhtNotFoundedException), typeof(ViewUnavailableException), s_cancelled], [], s_dhtOver),
        new(CallKind.Close, [], [], [s_cancelled], s_dhtOver),
        new(CallKind.Put, s_dhtMisuse, s_dhtNotDone, [typeof(OutcomeUnknownException)], s_dhtOver),
        new(CallKind.Change, s_dhtMisuse, s_dhtNotDone, [typeof(OutcomeUnknownException)], s_dhtOver),
        new(CallKind.Merge, [.. s_dhtMisuse, typeof(NoResolverException)], [.. s_dhtNotDone, typeof(ResolverException)], [typeof(OutcomeUnknownException), typeof(PartlyAppliedException)], s_dhtOver),
        new(CallKind.Commit, [.. s_dhtMisuse, typeof(InvalidOperationException)], [.. s_dhtNotDone, typeof(ResolverException)], [typeof(OutcomeUnknownException), typeof(PartlyAppliedException)], s_dhtOver),
        new(CallKind.Retry, [.. s_dhtMisuse, typeof(InvalidOperationException), typeof(NoResolverException), typeof(OperationIdReusedException)], [typeof(OperationNotExecutedException), typeof(ResolverException)],
            [typeof(OutcomeUnknownException), typeof(OutcomeForgottenException), typeof(PartlyAppliedException), typeof(OverloadedException), typeof(ViewUnavailableException), s_cancelled], [typeof(ShardDepopulatedException)]),
        new(CallKind.Update, s_dhtMisuse, s_dhtNotDone, [typeof(OutcomeUnknownException)], s_dhtOver),
        new(CallKind.Get, [.. s_dhtMisuse, typeof(InvalidOperationException)], s_dhtNotDone, [], s_dhtOver),
        new(CallKind.Snapshot, [], [s_cancelled], [], s_dhtOver),
        new(CallKind.Status, [], [s_cancelled], [], s_dhtOver),
        new(CallKind.WhenInitialised, [], [s_cancelled], [], s_dhtOver),
    ];

    /// <summary>What an error says of a call of that kind; null if no call of that kind may end with it.</summary>
    public static ErrorMeaning? MeaningOf(CallKind kind, Exception error)
    {
        var row = s_rows[(int)kind];
        foreach (var meaning in (ReadOnlySpan<ErrorMeaning>)[ErrorMeaning.NotDone, ErrorMeaning.Perhaps, ErrorMeaning.Over, ErrorMeaning.Misuse])
            if (Array.Exists(row[meaning], type => Is(error, type))) return meaning;
        return null;
    }

    /// <summary>
    /// Whether a put may have been executed, or may yet be, by a call that ended with this error (dht-order.md#what-it-guarantees, S6): that is not known, or the whole DHT is
    /// gone. This says nothing of other calls of the same put.
    /// </summary>
    public static bool MayHaveExecuted(Exception error) => error is OutcomeUnknownException or ShardDepopulatedException or PartlyAppliedException;

    /// <summary>
    /// Whether a put of any kind, a read or a retry that ended with this error gave up waiting. It may do so only when its time is over, its token is cancelled, or its
    /// member's part is over (errors.md: "View changes and lost connections are not errors: calls wait and go on"). Errors that say that a bound was reached, that nobody
    /// remembers the outcome, or that users' code cannot read what is stored do not count.
    /// </summary>
    public static bool GaveUp(CallKind kind, Exception error) => kind is CallKind.Put or CallKind.Change or CallKind.Merge or CallKind.Commit or CallKind.Update or CallKind.Retry or CallKind.Get
        && error is OperationNotExecutedException or ViewUnavailableException or OutcomeUnknownException and not OutcomeForgottenException and { InnerException: not (OverloadedException or UnsupportedTypeException or UserCodeException) };

    /// <summary>
    /// Whether cancelling its token ends a call of that kind at any point. The token of a send ends it only before anything of it is on its way, and some calls have no token.
    /// </summary>
    public static bool EndsByToken(CallKind kind) => kind is not (CallKind.Stop or CallKind.Dispose or CallKind.Send or CallKind.OrderedSend or CallKind.SendTo);

    /// <summary>All that a call of that kind may end with.</summary>
    public static IEnumerable<Type> Of(CallKind kind) => Enum.GetValues<ErrorMeaning>().SelectMany(meaning => s_rows[(int)kind][meaning]);

    /// <summary>The kinds in the order of the rows.</summary>
    public static IEnumerable<CallKind> Rows => s_rows.Select(static row => row.Kind);

    /// <summary>The error of an ended call, if the guide does not list it for that kind, or if it is a cancellation although the token was not cancelled; else null.</summary>
    public static Exception? Undocumented(CallKind kind, Task ended, bool cancelled) => ErrorOf(ended) is { } error && (MeaningOf(kind, error) is null || IsUnasked(error, cancelled)) ? error : null;

    /// <summary>What an ended call throws; null if it ended well.</summary>
    public static Exception? ErrorOf(Task ended)
    {
        ArgumentNullException.ThrowIfNull(ended);
        // A task that was cancelled has no exception of its own.
        return ended.IsCanceled ? new TaskCanceledException(ended) : ended.Exception?.InnerException;
    }

    /// <summary>Whether a call without misuse may end with this error; with a cancellation only if its token was cancelled.</summary>
    public static bool Allows(CallKind kind, Exception error, bool cancelled) => MeaningOf(kind, error) is { } meaning && meaning != ErrorMeaning.Misuse && !IsUnasked(error, cancelled);

    // Only its token cancels a call.
    private static bool IsUnasked(Exception error, bool cancelled) => error is OperationCanceledException && !cancelled;

    /// <summary>The table of the guide.</summary>
    public static string ToMarkdown()
    {
        var text = new StringBuilder("| Call | Refused: correct the program | Not done, and it will not be | Perhaps done | This one's part is over |\n|---|---|---|---|---|\n");
        foreach (var row in s_rows)
        {
            text.Append(CultureInfo.InvariantCulture, $"| {NameOf(row.Kind)} |");
            foreach (var meaning in Enum.GetValues<ErrorMeaning>())
                text.Append(CultureInfo.InvariantCulture, $" {(row[meaning].Length == 0 ? "–" : string.Join(", ", row[meaning].Select(static type => $"`{NameOf(type)}`")))} |");
            text.Append('\n');
        }
        return text.ToString();
    }

    /// <summary>The name of an error, as in the guide's other tables.</summary>
    public static string NameOf(Type error) => error.Name;

    private static string NameOf(CallKind kind) => kind switch
    {
        CallKind.Start => "`IdaNode.StartAsync`",
        CallKind.Stop => "`IdaNode.DisposeAsync`",
        CallKind.Describe => "`IdaNode.DescribeAsync`",
        CallKind.Join => "`JoinAsync`",
        CallKind.Dispose => "`Group.DisposeAsync`",
        CallKind.Views => "`Views`",
        CallKind.Enable => "`EnableDhtAsync`",
        CallKind.Put => "`PutAsync`, `RemoveAsync`",
        CallKind.Change => "`TryAddAsync`, `TryReplaceAsync`, `TryRemoveAsync`",
        CallKind.Retry => "all these that put, merge, remove or commit, with an `Operation`",
        CallKind.Get => "gets, `RunAsync`",
        _ => $"`{kind}Async`",
    };

    // Many errors derive from InvalidOperationException or ArgumentException. So the first stands for itself alone, and the second also for errors without a cell of their own.
    // Only a retry may hear that an outcome is forgotten.
    private static bool Is(Exception error, Type type) => type == typeof(InvalidOperationException) ? error.GetType() == type
        : type == typeof(OutcomeUnknownException) ? error is OutcomeUnknownException and not OutcomeForgottenException
        : type == typeof(ArgumentException) ? error is ArgumentException and not MessageTooLargeException and not WrongHandlerTypeException and not HandlerNotRegisteredException
        : type.IsInstanceOfType(error);

    private sealed record Row(CallKind Kind, Type[] Misuse, Type[] NotDone, Type[] Perhaps, Type[] Over)
    {
        public Type[] this[ErrorMeaning meaning] => meaning switch { ErrorMeaning.Misuse => Misuse, ErrorMeaning.NotDone => NotDone, ErrorMeaning.Perhaps => Perhaps, _ => Over };
    }
}
