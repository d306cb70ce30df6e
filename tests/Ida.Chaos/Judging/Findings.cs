using Ida.Chaos.Members;
using Ida.Testing.Calls;

namespace Ida.Chaos.Judging;

/// <summary>What all members said of their calls, including members that are gone: a killed member loses only what it would have said after its last line. Thread-safe.</summary>
internal sealed class Findings
{
    private readonly Lock _lock = new();
    private readonly SortedDictionary<string, string> _wrong = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Dictionary<(CallKind Kind, string What), long>> _calls = [];

    /// <summary>What calls did that they must not do, one text for each member.</summary>
    public IReadOnlyList<string> Wrong
    {
        get
        {
            lock (_lock) return [.. _wrong.Select(static one => $"calls of {one.Key}: {one.Value}")];
        }
    }

    /// <summary>Takes in what a member says. Each line has everything that the member knows, and two lines may have overtaken each other.</summary>
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

    /// <summary>Kinds of faults that were made but met no open call of any member: nobody told the members, or they did not listen.</summary>
    public IReadOnlyList<string> Unmet(IEnumerable<string> faults)
    {
        var met = Calls().Cells.Keys.Select(static cell => cell.Column).ToHashSet();
        return [.. faults.Where(fault => !met.Contains(CallTable.OfFault(fault)))];
    }
}
