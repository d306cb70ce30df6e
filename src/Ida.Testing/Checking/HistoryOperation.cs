using System.Text;

namespace Ida.Testing.Checking;

/// <summary>An operation: its invocation and its completion, joined with those of its parts.</summary>
public sealed class HistoryOperation
{
    private readonly List<bool> _appends = [];

    internal HistoryOperation(IReadOnlyList<(HistoryEvent Invoke, HistoryEvent? Completion)> parts)
    {
        var (invoke, completion) = parts[0];
        Id = invoke.Op!;
        Client = invoke.Client ?? "";
        Member = completion?.Member ?? invoke.Member ?? "";
        Function = string.Join('+', parts.Select(static part => part.Invoke.F ?? "").Distinct(StringComparer.Ordinal));
        Level = invoke.Level ?? HistoryLevel.Strict;
        // The invocations of all parts are recorded before the call, and their completions after it.
        Invoked = parts.Max(static part => part.Invoke.T);
        Outcome = OutcomeOf(parts, Id);
        Completed = Outcome == OperationOutcome.Info ? long.MaxValue : parts.Min(static part => part.Completion is { Type: HistoryEventType.Ok or HistoryEventType.Fail } end ? end.T : long.MaxValue);
        if (Completed < Invoked) throw new HistoryFormatException($"Operation {Id} completes before a part of it is invoked.");
        var reads = new List<OperationAccess>();
        var writes = new List<OperationAccess>();
        foreach (var part in parts)
        {
            if ((part.Invoke.Level ?? HistoryLevel.Strict) != Level) throw new HistoryFormatException($"Operation {Id}: its parts are of two levels.");
            var (read, written) = OperationAccess.Of(part.Invoke, part.Completion is { Type: HistoryEventType.Ok } ok ? ok : null);
            reads.AddRange(read);
            writes.AddRange(written);
            bool appends = string.Equals(part.Invoke.F, HistoryFunctions.Append, StringComparison.Ordinal);
            foreach (var _ in written) _appends.Add(appends);
        }
        if (parts.Count > 1 && writes.DistinctBy(static write => write.Key, StringComparer.Ordinal).Count() < writes.Count)
            throw new HistoryFormatException($"Operation {Id}: two of its parts write one key.");
        (Reads, Writes) = (reads, writes);
    }

    /// <summary>The operation that reads the final state, after all others.</summary>
    internal HistoryOperation(IReadOnlyList<OperationAccess> finals)
    {
        (Id, Client, Member, Function) = ("final", "", "", "final");
        Outcome = OperationOutcome.Ok;
        (Invoked, Completed) = (long.MaxValue, long.MaxValue);
        (Reads, Writes) = (finals, []);
    }

    /// <summary>Its id.</summary>
    public string Id { get; }

    /// <summary>The client that called.</summary>
    public string Client { get; }

    /// <summary>The member it went through.</summary>
    public string Member { get; }

    /// <summary>What it does, see <see cref="HistoryFunctions"/>.</summary>
    public string Function { get; }

    /// <summary>What it was promised.</summary>
    public HistoryLevel Level { get; }

    /// <summary>When it was called, in nanoseconds.</summary>
    public long Invoked { get; }

    /// <summary>When it ended, in nanoseconds; <see cref="long.MaxValue"/> when the outcome is unknown.</summary>
    public long Completed { get; }

    /// <summary>How it ended.</summary>
    public OperationOutcome Outcome { get; }

    /// <summary>What it read, known only when it completed.</summary>
    public IReadOnlyList<OperationAccess> Reads { get; }

    /// <summary>What it writes; a removal is a write of <see cref="HistoryValue.Absent"/>.</summary>
    public IReadOnlyList<OperationAccess> Writes { get; }

    /// <summary>Whether a write appends to a list.</summary>
    internal bool Appends(int write) => _appends[write];

    internal bool IsFinal => string.Equals(Function, "final", StringComparison.Ordinal) && Invoked == long.MaxValue;

    /// <summary>One line: what, by whom, when, with which result.</summary>
    public override string ToString()
    {
        if (IsFinal) return "final state";
        var text = new StringBuilder($"op {Id}: {Function}");
        Add(text, Reads, Outcome == OperationOutcome.Ok ? " read " : "");
        Add(text, Writes, " wrote ");
        text.Append(System.Globalization.CultureInfo.InvariantCulture, $" ({Outcome}");
        if (Level != HistoryLevel.Strict) text.Append(System.Globalization.CultureInfo.InvariantCulture, $", {Level}");
        if (Client.Length > 0) text.Append(", client ").Append(Client);
        if (Member.Length > 0) text.Append(", at ").Append(Member);
        string end = Completed == long.MaxValue ? "…" : Completed.ToString(System.Globalization.CultureInfo.InvariantCulture);
        return text.Append(System.Globalization.CultureInfo.InvariantCulture, $", t {Invoked}–{end})").ToString();
    }

    // A writer that was killed may have written the completion of one part only.
    private static OperationOutcome OutcomeOf(IReadOnlyList<(HistoryEvent Invoke, HistoryEvent? Completion)> parts, string id)
    {
        bool ok = parts.Any(static part => part.Completion?.Type == HistoryEventType.Ok), fail = parts.Any(static part => part.Completion?.Type == HistoryEventType.Fail);
        if (ok && fail) throw new HistoryFormatException($"Operation {id}: one part completed, and one failed.");
        return ok ? OperationOutcome.Ok : fail ? OperationOutcome.Fail : OperationOutcome.Info;
    }

    private static void Add(StringBuilder text, IReadOnlyList<OperationAccess> accesses, string verb)
    {
        if (accesses.Count == 0) return;
        const int most = 8;
        text.Append(verb).AppendJoin(", ", accesses.Take(most));
        if (accesses.Count > most) text.Append(", …");
    }
}
