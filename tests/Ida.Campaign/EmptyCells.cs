using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire.MessagePack;
using Ida.Scenarios;
using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Campaign;

/// <summary>
/// The cells of the table of calls that a suite need not fill, because it never draws them, or too seldom to count on. When a suite is run as a whole, any other empty cell is
/// named, and fails the campaign if it has many seeds: either a schedule no longer draws the cell, or no schedule draws a new call or error yet.
/// </summary>
internal static class EmptyCells
{
    private const string Fault = "fault: ";

    // With fewer seeds, a cell may stay empty by chance.
    private const int LeastSeeds = 50_000;

    // The surface of groups crashes nodes, whose host then answers or not, and cuts ways in both directions. Its calls do not meet the faults that only plans have.
    private static readonly string[] s_ofPlans = [CallTable.Of(FaultKind.Vanish), CallTable.Of(FaultKind.Cut), CallTable.Of(FaultKind.Drop), CallTable.Of(FaultKind.Drift)];

    // Few schedules of a DHT have whole nodes, and their starts and ends are short.
    private static readonly Dictionary<Suite, (CallKind Kind, string[] Cells)[]> s_declared = new()
    {
        [Suite.Groups] =
        [
            Whole(CallKind.Enable), Whole(CallKind.Close), Whole(CallKind.Put), Whole(CallKind.Change), Whole(CallKind.Merge), Whole(CallKind.Commit), Whole(CallKind.Retry), Whole(CallKind.Update), Whole(CallKind.Get), Whole(CallKind.Snapshot), Whole(CallKind.Status), Whole(CallKind.WhenInitialised),
            // Programs start under faults, and with tokens, only in suite ida.
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
            // The models have one hash and few types. A retry is told "unknown" where another call is told that it was not done.
            OfTypes(CallKind.Put), OfTypes(CallKind.Change), OfTypes(CallKind.Merge), OfTypes(CallKind.Commit), OfTypes(CallKind.Get),
            // The programs of whole nodes make no updates.
            OfTypes(CallKind.Update, Fault),
            OfTypes(CallKind.Retry, nameof(InvalidOperationException), nameof(OperationNotExecutedException), nameof(OverloadedException), nameof(ViewUnavailableException)),
            (CallKind.Snapshot, [Fault]),
            (CallKind.Status, [Fault]),
            (CallKind.WhenInitialised, [Fault]),
        ],
    };

    /// <summary>One line for each kind with an empty cell. Declared cells are left out if <paramref name="suite"/> is given, that is, run as a whole.</summary>
    public static IEnumerable<string> Lines(CallTable calls, Suite? suite) =>
        calls.Empty().Where(cell => suite is null || !IsDeclared(suite, cell.Kind, cell.Cell)).GroupBy(static cell => cell.Kind)
            .Select(static cells => cells.First().Cell is null ? $"{cells.Key}" : $"{cells.Key}: {string.Join(", ", cells.Select(static cell => cell.Cell))}");

    private static (CallKind Kind, string[] Cells) OfTypes(CallKind kind, params string[] more) => (kind, [nameof(DhtConfigurationException), nameof(UnsupportedTypeException), nameof(UserCodeException), .. more]);

    /// <summary>Whether the named cells fail a campaign of a whole suite: only with so many seeds that no cell stays empty by chance.</summary>
    public static bool MustBeNone(IReadOnlyList<string> lines, long seeds) => lines.Count > 0 && seeds >= LeastSeeds;

    private static (CallKind Kind, string[] Cells) Whole(CallKind kind) => (kind, []);

    // A kind without cells is declared as a whole; the cell Fault declares all faults of a kind.
    private static bool IsDeclared(Suite suite, CallKind kind, string? cell) =>
        Array.Exists(s_declared[suite], one => one.Kind == kind && (one.Cells.Length == 0 || Array.Exists(one.Cells, name => name == cell || (name == Fault && cell?.StartsWith(Fault, StringComparison.Ordinal) == true))));
}
