using System.Globalization;

namespace Ida.Testing.Calls;

/// <summary>
/// Counts for each kind of call: how often it began, with which option or misuse, during which fault, and how it ended. A cell that stays empty is something that no schedule
/// draws. Not thread-safe.
/// </summary>
internal sealed class CallTable
{
    private readonly SortedDictionary<(CallKind Kind, string Column), long> _cells = [];

    /// <summary>The column of calls that were open in a view change.</summary>
    public const string InView = "fault: view change";

    private const string Fault = "fault", Option = "option";

    /// <summary>The column of calls that were open when a fault began.</summary>
    public static string Of(FaultKind fault) => OfFault(fault.ToString());

    /// <summary>The same for a fault of another harness.</summary>
    public static string OfFault(string fault) => $"{Fault}: {fault}";

    /// <summary>The column of calls that were made with an option.</summary>
    public static string OptionOf(string option) => $"{Option}: {option}";

    /// <summary>The column of a misuse that was refused.</summary>
    public static string MisuseOf(string misuse) => $"misuse: {misuse}";

    /// <summary>Columns in their order, with the number of calls of each kind.</summary>
    public IReadOnlyDictionary<(CallKind Kind, string Column), long> Cells => _cells;

    /// <summary>A call was made.</summary>
    public void Begin(CallKind kind) => Add(kind, "begun");

    /// <summary>A call has ended.</summary>
    public void End(CallKind kind, Task task) => Add(kind, CallErrors.ErrorOf(task) is { } error ? $"ended: {(error is OperationCanceledException ? nameof(OperationCanceledException) : error.GetType().Name)}" : "ended: well");

    /// <summary>Nobody will hear of a call: its caller has crashed.</summary>
    public void Lose(CallKind kind, Task task)
    {
        ArgumentNullException.ThrowIfNull(task);
        Add(kind, "ended: lost in a crash");
        // It may yet end with an error, when a harness ends the rest of its process; that error concerns nobody.
        _ = task.ContinueWith(static lost => lost.Exception, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously | TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
    }

    /// <summary>A call was refused at once for what it asked for.</summary>
    public void Refused(CallKind kind, Type error) => Add(kind, $"refused: {error.Name}");

    public void Add(CallKind kind, string column, long times = 1) => _cells[(kind, column)] = _cells.GetValueOrDefault((kind, column)) + times;

    public void Add(CallTable other)
    {
        ArgumentNullException.ThrowIfNull(other);
        foreach (var ((kind, column), times) in other._cells) Add(kind, column, times);
    }

    /// <summary>One line per kind and sort of column, such as <c>Put  ended: well 120, OverloadedException 3</c>.</summary>
    public void Print(TextWriter to)
    {
        ArgumentNullException.ThrowIfNull(to);
        if (_cells.Count == 0) return;
        to.WriteLine("Calls: how often each kind met what");
        foreach (var kind in Enum.GetValues<CallKind>())
        {
            foreach (var sort in _cells.Where(cell => cell.Key.Kind == kind).GroupBy(static cell => SortOf(cell.Key.Column)))
                to.WriteLine($"  {kind,-12} {sort.Key,-8} {string.Join(", ", sort.Select(static cell => $"{NameOf(cell.Key.Column)}{cell.Value.ToString(CultureInfo.InvariantCulture)}"))}");
        }
    }

    /// <summary>
    /// What no schedule drew: kinds that were not called (null), errors that the guide promises and nobody got, faults that other kinds met and this one did not, and likewise
    /// options, if calls of the kind have any.
    /// </summary>
    public IEnumerable<(CallKind Kind, string? Cell)> Empty()
    {
        var (faults, options) = (ColumnsOf(Fault), ColumnsOf(Option));
        foreach (var kind in Enum.GetValues<CallKind>())
        {
            if (this[kind, "begun"] == 0)
            {
                yield return (kind, null);
                continue;
            }
            foreach (var error in CallErrors.Of(kind))
                if (!Names(error).Any(name => this[kind, $"ended: {name}"] + this[kind, $"refused: {name}"] > 0)) yield return (kind, error.Name);
            foreach (string fault in faults)
                if (this[kind, fault] == 0) yield return (kind, fault);
            if (!options.Exists(option => this[kind, option] > 0)) continue;
            foreach (string option in options)
                if (this[kind, option] == 0) yield return (kind, option);
        }
    }

    private List<string> ColumnsOf(string sort) => [.. _cells.Keys.Select(static cell => cell.Column).Where(column => SortOf(column) == sort).Distinct().Order(StringComparer.Ordinal)];

    // Derived errors count for their base.
    private static string[] Names(Type error) => error == typeof(ArgumentException) ? [error.Name, nameof(ArgumentNullException), nameof(ArgumentOutOfRangeException), nameof(Oracle.InvalidOptionException)]
        : error == typeof(GroupCore.Runtime.NodeStoppedException) ? [error.Name, nameof(GroupCore.Runtime.NodeFaultedException)] : [error.Name];

    private static string SortOf(string column) => column.IndexOf(':', StringComparison.Ordinal) is >= 0 and int at ? column[..at] : column;

    private static string NameOf(string column) => column.IndexOf(':', StringComparison.Ordinal) is >= 0 and int at ? $"{column[(at + 2)..]} " : "";

    public long this[CallKind kind, string column] => _cells.GetValueOrDefault((kind, column));
}
