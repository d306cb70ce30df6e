using System.Globalization;
using System.Text;
using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire.MessagePack;

namespace Ida.Testing.Calls;

/// <summary>
/// What each call may end with, and what that says of it: the guide's table (docs/guide/errors.md, "What a call may end with"), which a test holds against this one.
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

    /// <summary>What an error says of a call of that kind; null where none may end with it.</summary>
    public static ErrorMeaning? MeaningOf(CallKind kind, Exception error)
    {
        var row = s_rows[(int)kind];
        foreach (var meaning in (ReadOnlySpan<ErrorMeaning>)[ErrorMeaning.NotDone, ErrorMeaning.Perhaps, ErrorMeaning.Over, ErrorMeaning.Misuse])
            if (Array.Exists(row[meaning], type => Is(error, type))) return meaning;
        return null;
    }

    /// <summary>
    /// Whether a put may have been executed, or may yet be, by a call of it that ended so (dht-order.md#what-it-guarantees, S6): that is not known, or the whole DHT is gone.
    /// Nothing is said of other calls of the same put.
    /// </summary>
    public static bool MayHaveExecuted(Exception error) => error is OutcomeUnknownException or ShardDepopulatedException or PartlyAppliedException;

    /// <summary>
    /// Whether a put, whatever it does, a read or a retry that ended so did not wait any longer: that may only be when its time is over, its token is cancelled, or its member's part is over (errors.md: "View changes and
    /// lost connections are not errors: calls wait and go on"). Not what says that a bound was reached, that nobody remembers, or that users' code cannot read what is stored.
    /// </summary>
    public static bool GaveUp(CallKind kind, Exception error) => kind is CallKind.Put or CallKind.Change or CallKind.Merge or CallKind.Commit or CallKind.Update or CallKind.Retry or CallKind.Get
        && error is OperationNotExecutedException or ViewUnavailableException or OutcomeUnknownException and not OutcomeForgottenException and { InnerException: not (OverloadedException or UnsupportedTypeException or UserCodeException) };

    /// <summary>
    /// Whether a token that is cancelled ends a call of that kind wherever it is, and not only before anything of it is on its way, as those of sends, or never, as where there is none.
    /// </summary>
    public static bool EndsByToken(CallKind kind) => kind is not (CallKind.Stop or CallKind.Dispose or CallKind.Send or CallKind.OrderedSend or CallKind.SendTo);

    /// <summary>All that a call of that kind may end with.</summary>
    public static IEnumerable<Type> Of(CallKind kind) => Enum.GetValues<ErrorMeaning>().SelectMany(meaning => s_rows[(int)kind][meaning]);

    /// <summary>The kinds in the order of the rows.</summary>
    public static IEnumerable<CallKind> Rows => s_rows.Select(static row => row.Kind);

    /// <summary>The error that an ended call has and that the guide does not list for its kind, or a cancellation though its token was not cancelled; null where there is neither.</summary>
    public static Exception? Undocumented(CallKind kind, Task ended, bool cancelled) => ErrorOf(ended) is { } error && (MeaningOf(kind, error) is null || IsUnasked(error, cancelled)) ? error : null;

    /// <summary>What an ended call throws; null where it ended well.</summary>
    public static Exception? ErrorOf(Task ended)
    {
        ArgumentNullException.ThrowIfNull(ended);
        // A task that was cancelled has no exception of its own.
        return ended.IsCanceled ? new TaskCanceledException(ended) : ended.Exception?.InnerException;
    }

    /// <summary>Whether a call without misuse may end so; cancelled only where its token was.</summary>
    public static bool Allows(CallKind kind, Exception error, bool cancelled) => MeaningOf(kind, error) is { } meaning && meaning != ErrorMeaning.Misuse && !IsUnasked(error, cancelled);

    // Nobody but its token cancels a call.
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

    /// <summary>As the guide's other tables name them.</summary>
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

    // Nearly every error is one of the first two, so they mean themselves alone, and what has no cell of its own. Only a retry may hear that an outcome is forgotten.
    private static bool Is(Exception error, Type type) => type == typeof(InvalidOperationException) ? error.GetType() == type
        : type == typeof(OutcomeUnknownException) ? error is OutcomeUnknownException and not OutcomeForgottenException
        : type == typeof(ArgumentException) ? error is ArgumentException and not MessageTooLargeException and not WrongHandlerTypeException and not HandlerNotRegisteredException
        : type.IsInstanceOfType(error);

    private sealed record Row(CallKind Kind, Type[] Misuse, Type[] NotDone, Type[] Perhaps, Type[] Over)
    {
        public Type[] this[ErrorMeaning meaning] => meaning switch { ErrorMeaning.Misuse => Misuse, ErrorMeaning.NotDone => NotDone, ErrorMeaning.Perhaps => Perhaps, _ => Over };
    }
}
