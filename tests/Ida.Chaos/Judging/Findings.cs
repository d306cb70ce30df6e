using Ida.Chaos.Members;
using Ida.Testing.Calls;

namespace Ida.Chaos.Judging;

/// <summary>What all members said of their calls, also those that are gone: a member that is killed loses what it would have said since its last line, and nothing else. Thread-safe.</summary>
internal sealed class Findings
{
    private readonly Lock _lock = new();
    private readonly SortedDictionary<string, string> _wrong = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Dictionary<(CallKind Kind, string What), long>> _calls = [];

    /// <summary>What calls did that they must not, one text a member.</summary>
    public IReadOnlyList<string> Wrong
    {
        get
        {
            lock (_lock) return [.. _wrong.Select(static one => $"calls of {one.Key}: {one.Value}")];
        }
    }

    /// <summary>A member says something: each line tells all that it knows, and two may have overtaken each other.</summary>
    public void Note(string member, MemberStatus said)
    {
        lock (_lock)
        {
            if (said.Wrong is { } wrong && wrong.Length >= _wrong.GetValueOrDefault(member, "").Length) _wrong[member] = wrong;
            if (said.Calls.Count == 0) return;
            if (!_calls.TryGetValue(member, out var table)) _calls[member] = table = [];
            foreach (var met in said.Calls) table[(met.Kind, met.What)] = Math.Max(met.Times, table.GetValueOrDefault((met.Kind, met.What)));
        }
    }

    /// <summary>What the calls of all members met.</summary>
    public CallTable Calls()
    {
        var all = new CallTable();
        lock (_lock)
            foreach (var ((kind, what), times) in _calls.Values.SelectMany(static table => table)) all.Add(kind, what, times);
        return all;
    }

    /// <summary>Faults that were made, and began while no call of any member was open: nobody told the members, or they did not listen.</summary>
    public IReadOnlyList<string> Unmet(IEnumerable<string> faults)
    {
        var met = Calls().Cells.Keys.Select(static cell => cell.Column).ToHashSet();
        return [.. faults.Where(fault => !met.Contains(CallTable.OfFault(fault)))];
    }
}
