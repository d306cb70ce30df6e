using GroupCore.Runtime;

namespace Ida.Testing;

/// <summary>Draws a schedule: each fault from its own fork of the seed, with no more nodes down at a time than the plan allows.</summary>
internal sealed class FaultDrawing(Prng random, FaultPlan plan)
{
    private readonly List<Fault> _faults = [];
    private IReadOnlyList<FaultKind> _kinds = plan.Kinds;
    private int? _only;

    public FaultSchedule Draw()
    {
        if (plan.Swarms) _kinds = Some(random.Fork());
        if (plan.OneNode) _only = random.Next(plan.Nodes);
        int count = 1 + random.Next(plan.MaxFaults);
        for (int i = 0; i < count; i++)
            if (One(random.Fork()) is { } fault) _faults.Add(fault);
        return new(_faults);
    }

    private Fault? One(Prng from)
    {
        var kind = _kinds[from.Next(_kinds.Count)];
        int node = _only ?? from.Next(plan.Nodes), other = plan.Nodes == 1 ? node : (node + 1 + from.Next(plan.Nodes - 1)) % plan.Nodes;
        var fault = new Fault(TimeSpan.FromTicks(from.Next(0, plan.Within.Ticks)), kind, node, Duration(from));
        switch (kind)
        {
            case FaultKind.Crash or FaultKind.Vanish:
                if (from.Chance(plan.StaysDown)) fault = fault with { For = Timeout.InfiniteTimeSpan };
                return MayGoDown(fault) ? fault : null;
            case FaultKind.Cut or FaultKind.Drop:
                return Way(fault, from, node, other);
            case FaultKind.Slow:
                return Way(fault with { Factor = 2 + from.Next(200) }, from, node, other);
            case FaultKind.Break:
                return Way(fault with { For = TimeSpan.Zero }, from, node, other);
            case FaultKind.Partition:
                return plan.Nodes == 1 ? null : fault with { Node = -1, Side = Side(from) };
            case FaultKind.Busy:
                return fault with { Factor = 10 + from.Next(2000) };
            case FaultKind.Drift:
                return fault with { Factor = 1 + from.Next(-100, 100) / 10_000.0 };
            default:
                return fault;
        }
    }

    // If all faults are those of one node, takes either of its ways.
    private Fault? Way(Fault fault, Prng from, int node, int other) =>
        node == other ? null : _only is not null && from.Chance(0.5) ? fault with { Node = other, Other = node } : fault with { Other = other };

    private List<FaultKind> Some(Prng from)
    {
        var some = plan.Kinds.Where(_ => from.Chance(0.4)).ToList();
        return some.Count > 0 ? some : [plan.Kinds[from.Next(plan.Kinds.Count)]];
    }

    private TimeSpan Duration(Prng from)
    {
        if (plan.Around.Count > 0 && from.Chance(0.5)) return TimeSpan.FromMicroseconds(Math.Round((plan.Around[from.Next(plan.Around.Count)] * (0.67 + (0.66 * from.NextDouble()))).TotalMicroseconds));
        double orders = Math.Log(plan.MaxDuration / plan.MinDuration);
        return TimeSpan.FromMicroseconds(Math.Round((plan.MinDuration * Math.Exp(orders * from.NextDouble())).TotalMicroseconds));
    }

    private List<int> Side(Prng from)
    {
        if (_only is { } only) return [only];
        var side = new List<int>();
        for (int node = 0; node < plan.Nodes; node++)
            if (from.Chance(0.5)) side.Add(node);
        if (side.Count == 0 || side.Count == plan.Nodes) side = [from.Next(plan.Nodes)];
        return side;
    }

    private bool MayGoDown(Fault fault)
    {
        int others = 0;
        foreach (var known in _faults)
        {
            if (known.Kind is not (FaultKind.Crash or FaultKind.Vanish) || EndOf(known) < fault.At || EndOf(fault) < known.At) continue;
            if (known.Node == fault.Node) return false;
            others++;
        }
        return others < plan.MaxDown;
    }

    private static TimeSpan EndOf(Fault fault) => fault.For == Timeout.InfiniteTimeSpan ? TimeSpan.MaxValue : fault.At + fault.For;
}
