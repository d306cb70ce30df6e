using System.Text;

namespace Ida.Testing.Checking;

/// <summary>An operation: its invocation and its completion joined.</summary>
public sealed class HistoryOperation
{
    internal HistoryOperation(HistoryEvent invoke, HistoryEvent? completion)
    {
        Id = invoke.Op!;
        Client = invoke.Client ?? "";
        Member = completion?.Member ?? invoke.Member ?? "";
        Function = invoke.F ?? "";
        Level = invoke.Level ?? HistoryLevel.Strict;
        Invoked = invoke.T;
        Outcome = completion?.Type switch
        {
            HistoryEventType.Ok => OperationOutcome.Ok,
            HistoryEventType.Fail => OperationOutcome.Fail,
            _ => OperationOutcome.Info,
        };
        Completed = Outcome == OperationOutcome.Info ? long.MaxValue : completion!.T;
        (Reads, Writes) = OperationAccess.Of(invoke, Outcome == OperationOutcome.Ok ? completion : null);
    }

    /// <summary>The one that reads the final state: after all others.</summary>
    internal HistoryOperation(IReadOnlyList<OperationAccess> finals)
    {
        (Id, Client, Member, Function) = ("final", "", "", "final");
        Outcome = OperationOutcome.Ok;
        (Invoked, Completed) = (long.MaxValue, long.MaxValue);
        (Reads, Writes) = (finals, []);
    }

    /// <summary>Its id.</summary>
    public string Id { get; }

    /// <summary>Who called.</summary>
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

    internal bool Appends => string.Equals(Function, HistoryFunctions.Append, StringComparison.Ordinal);

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

    private static void Add(StringBuilder text, IReadOnlyList<OperationAccess> accesses, string verb)
    {
        if (accesses.Count == 0) return;
        const int most = 8;
        text.Append(verb).AppendJoin(", ", accesses.Take(most));
        if (accesses.Count > most) text.Append(", …");
    }
}
