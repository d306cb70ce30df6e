using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire.MessagePack;
using Ida.Scenarios;
using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Campaign;

/// <summary>
/// The cells of the table of calls that a suite need not fill: of what it does not draw, or so seldom that a campaign may do without. Any other that stays empty where a suite is run as a
/// whole is named, and fails it if it has many seeds: a schedule has ceased to draw it, or none draws a new call or error yet.
/// </summary>
internal static class EmptyCells
{
    private const string Fault = "fault: ";

    // Of fewer seeds some draw what others do not.
    private const int LeastSeeds = 50_000;

    // The surface of groups crashes nodes with or without an answer of their host, and cuts ways on both sides; what is alone in faults of plans its calls do not meet.
    private static readonly string[] s_ofPlans = [CallTable.Of(FaultKind.Vanish), CallTable.Of(FaultKind.Cut), CallTable.Of(FaultKind.Drop), CallTable.Of(FaultKind.Drift)];

    // Whole nodes are few among the schedules of a DHT, and their starts and ends short.
    private static readonly Dictionary<Suite, (CallKind Kind, string[] Cells)[]> s_declared = new()
    {
        [Suite.Groups] =
        [
            Whole(CallKind.Enable), Whole(CallKind.Close), Whole(CallKind.Put), Whole(CallKind.Change), Whole(CallKind.Merge), Whole(CallKind.Commit), Whole(CallKind.Retry), Whole(CallKind.Update), Whole(CallKind.Get), Whole(CallKind.Snapshot), Whole(CallKind.Status), Whole(CallKind.WhenInitialised),
            // Where programs start under faults, and with tokens, is suite ida.
            (CallKind.Start, [Fault, nameof(InsecureBindException), nameof(ArgumentException), nameof(AddressInUseException), nameof(ClusterUnreachableException), nameof(OperationCanceledException), nameof(ExcludedException), nameof(NodeStoppedException)]),
            (CallKind.Stop, [Fault]),
            (CallKind.Describe, [Fault]),
            (CallKind.Join, [Fault, nameof(ContractException), nameof(JoinTimeoutException), nameof(GroupOverloadedException)]),
            (CallKind.Leave, [Fault]),
            (CallKind.Dispose, [Fault]),
            (CallKind.Send, [nameof(GroupOverloadedException)]),
            (CallKind.OrderedSend, [nameof(GroupOverloadedException)]),
            (CallKind.SendTo, [.. s_ofPlans, nameof(GroupOverloadedException)]),
            (CallKind.Query, [.. s_ofPlans, nameof(GroupOverloadedException), nameof(SendQueueFullException)]),
            (CallKind.OrderedQuery, [.. s_ofPlans, nameof(GroupOverloadedException), nameof(SendQueueFullException)]),
            (CallKind.QueryTo, [.. s_ofPlans, nameof(GroupOverloadedException), nameof(SendQueueFullException)]),
            (CallKind.Flush, [nameof(GroupOverloadedException)]),
            (CallKind.Views, [.. s_ofPlans, nameof(GroupOverloadedException)]),
        ],
        [Suite.Ida] =
        [
            Whole(CallKind.Dispose), Whole(CallKind.Send), Whole(CallKind.OrderedSend), Whole(CallKind.SendTo), Whole(CallKind.Query), Whole(CallKind.OrderedQuery), Whole(CallKind.QueryTo), Whole(CallKind.Views),
            (CallKind.Start, [Fault, nameof(InsecureBindException), nameof(ArgumentException), nameof(AddressInUseException), nameof(ExcludedException), nameof(NodeStoppedException)]),
            (CallKind.Stop, [Fault]),
            (CallKind.Describe, [Fault]),
            (CallKind.Join, [Fault, nameof(ArgumentException), nameof(ContractException), nameof(InvalidOperationException), nameof(GroupOverloadedException), nameof(JoinTimeoutException), nameof(JoinRefusedException), nameof(NotMemberException), nameof(NodeStoppedException)]),
            (CallKind.Leave, [Fault, nameof(NodeStoppedException)]),
            (CallKind.Flush, [Fault, nameof(InvalidOperationException), nameof(OperationCanceledException), nameof(NotMemberException), nameof(GroupOverloadedException), nameof(ExcludedException)]),
            (CallKind.Enable, [Fault, nameof(DhtConfigurationException), nameof(InvalidOperationException), nameof(ArgumentException), nameof(DhtNotFoundedException), nameof(ViewUnavailableException), nameof(NodeFaultedException)]),
            (CallKind.Close, [Fault, nameof(NotDhtMemberException), nameof(ShardDepopulatedException), nameof(NodeFaultedException)]),
            // Of the models' one hash and few types; and a retry is told "unknown" where another call is told that it was not done.
            OfTypes(CallKind.Put), OfTypes(CallKind.Change), OfTypes(CallKind.Merge), OfTypes(CallKind.Commit), OfTypes(CallKind.Get),
            // The programs of whole nodes update nothing.
            OfTypes(CallKind.Update, Fault),
            OfTypes(CallKind.Retry, nameof(InvalidOperationException), nameof(OperationNotExecutedException), nameof(OverloadedException), nameof(ViewUnavailableException)),
            (CallKind.Snapshot, [Fault]),
            (CallKind.Status, [Fault]),
            (CallKind.WhenInitialised, [Fault]),
        ],
    };

    /// <summary>One line for each kind of which something is empty; of what is declared nothing where <paramref name="suite"/> is run as a whole.</summary>
    public static IEnumerable<string> Lines(CallTable calls, Suite? suite) =>
        calls.Empty().Where(cell => suite is null || !IsDeclared(suite, cell.Kind, cell.Cell)).GroupBy(static cell => cell.Kind)
            .Select(static cells => cells.First().Cell is null ? $"{cells.Key}" : $"{cells.Key}: {string.Join(", ", cells.Select(static cell => cell.Cell))}");

    private static (CallKind Kind, string[] Cells) OfTypes(CallKind kind, params string[] more) => (kind, [nameof(DhtConfigurationException), nameof(UnsupportedTypeException), nameof(UserCodeException), .. more]);

    /// <summary>Whether what is named fails a campaign of a whole suite: where it had so many seeds that none is empty by chance.</summary>
    public static bool MustBeNone(IReadOnlyList<string> lines, long seeds) => lines.Count > 0 && seeds >= LeastSeeds;

    private static (CallKind Kind, string[] Cells) Whole(CallKind kind) => (kind, []);

    // A kind without cells is declared as a whole, and all faults of one at once.
    private static bool IsDeclared(Suite suite, CallKind kind, string? cell) =>
        Array.Exists(s_declared[suite], one => one.Kind == kind && (one.Cells.Length == 0 || Array.Exists(one.Cells, name => name == cell || (name == Fault && cell?.StartsWith(Fault, StringComparison.Ordinal) == true))));
}
