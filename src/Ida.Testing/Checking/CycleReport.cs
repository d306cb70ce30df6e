using System.Globalization;
using System.Text;

namespace Ida.Testing.Checking;

/// <summary>Finds cycles and tells them in words.</summary>
internal static class CycleReport
{
    public static void Add(Evidence evidence, KeyTable keys, bool realTime)
    {
        var told = new HashSet<int>();
        foreach (var cycle in new CycleFinder(evidence.Graph, timed: false).Cycles())
        {
            Tell(evidence, keys, cycle, AnomalyKind.NotSerializable);
            told.UnionWith(cycle.Select(step => step.From));
        }
        if (!realTime) return;
        foreach (var cycle in new CycleFinder(evidence.Graph, timed: true).Cycles())
            if (cycle.Exists(step => step.Timed) && !cycle.Exists(step => told.Contains(step.From))) Tell(evidence, keys, cycle, AnomalyKind.RealTimeViolation);
    }

    private static void Tell(Evidence evidence, KeyTable keys, List<DependencyEdge> cycle, AnomalyKind kind)
    {
        int first = 0;
        for (int i = 1; i < cycle.Count; i++)
            if (evidence.Operations[cycle[i].From].Invoked < evidence.Operations[cycle[first].From].Invoked) first = i;
        List<DependencyEdge> steps = [.. cycle.Skip(first), .. cycle.Take(first)];
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"{steps.Count} operations in a cycle ({Name(steps)})");
        foreach (var step in steps)
        {
            text.Append("\n  ").Append(evidence.Operations[step.From]);
            text.Append("\n    → ").Append(Reason(evidence, keys, step));
        }
        text.Append(CultureInfo.InvariantCulture, $"\n  back to op {evidence.Operations[steps[0].From].Id}");
        string? key = steps.Select(s => s.Key).Distinct().Count() == 1 && steps[0].Key >= 0 ? keys.NameOf(steps[0].Key) : null;
        evidence.Report.Add(kind, key, text.ToString(), [.. steps.Select(step => evidence.Operations[step.From])]);
    }

    /// <summary>Adya's name of the cycle.</summary>
    private static string Name(List<DependencyEdge> steps)
    {
        int reads = steps.Count(s => s.Kind == DependencyKind.ReadWrite);
        string name = reads switch
        {
            0 when steps.TrueForAll(s => s.Kind is DependencyKind.WriteWrite or DependencyKind.RealTime) => "G0, writes in a circle",
            0 => "G1c, information in a circle",
            1 => "G-single, one stale read",
            _ => "G2, mutually stale reads",
        };
        return steps.Exists(s => s.Timed) ? name + ", against real time" : name;
    }

    private static string Reason(Evidence evidence, KeyTable keys, DependencyEdge step)
    {
        var (from, to) = (evidence.Operations[step.From], evidence.Operations[step.To]);
        string key = step.Key >= 0 ? keys.NameOf(step.Key) : "";
        string inferred = step.Timed ? " (as real time tells)" : "";
        return step.Kind switch
        {
            DependencyKind.WriteWrite => $"ww {key}: its {Written(from, key)} is older than {Written(to, key)} of op {to.Id}{inferred}",
            DependencyKind.WriteRead => $"wr {key}: op {to.Id} read its {Written(from, key)}",
            DependencyKind.ReadWrite => $"rw {key}: it read what was before {Written(to, key)} of op {to.Id}{inferred}",
            _ when to.IsFinal => "the final state comes after it",
            _ => string.Create(CultureInfo.InvariantCulture, $"real time: completed at {from.Completed}, op {to.Id} was invoked at {to.Invoked}"),
        };
    }

    private static string Written(HistoryOperation operation, string key)
    {
        foreach (var write in operation.Writes)
            if (string.Equals(write.Key, key, StringComparison.Ordinal)) return write.Value.IsAbsent ? "removal" : write.Value.ToString();
        return "write";
    }
}
