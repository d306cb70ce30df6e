namespace Ida.Testing;

/// <summary>Makes faults happen to a simulation, and undoes them. If several have hold of one thing, it is again as it was before when the last of them has ended.</summary>
internal sealed class FaultInjection(Simulation simulation, Action<SimNode>? restarted, Action<Fault>? happens = null)
{
    private readonly HeldFaults<(int From, int To), CutMode?> _cuts = new();
    private readonly HeldFaults<(int From, int To), double> _slow = new();
    private readonly HeldFaults<SimNode, double> _busy = new(), _drifts = new();

    public void Begin(Fault fault)
    {
        // A node that has died does not die again, nor does anything else happen to it.
        if (fault.Kind is FaultKind.Crash or FaultKind.Vanish or FaultKind.Pause or FaultKind.Busy or FaultKind.Drift && !Latest(fault.Node).Alive) return;
        happens?.Invoke(fault);
        if (fault.Kind == FaultKind.Partition)
        {
            Partition(fault);
            return;
        }
        var node = Latest(fault.Node);
        switch (fault.Kind)
        {
            case FaultKind.Crash: Down(node, fault, hostAnswers: true); break;
            case FaultKind.Vanish: Down(node, fault, hostAnswers: false); break;
            case FaultKind.Pause: node.Pause(fault.For); break;
            case FaultKind.Cut: Cut(fault, fault.Node, fault.Other, CutMode.Hold); break;
            case FaultKind.Drop: Cut(fault, fault.Node, fault.Other, CutMode.Drop); break;
            case FaultKind.Slow: Slow(fault); break;
            case FaultKind.Break: simulation.Network.Break(node, Latest(fault.Other)); break;
            case FaultKind.Busy: Busy(node, fault); break;
            case FaultKind.Drift: Drift(node, fault); break;
        }
    }

    private void Down(SimNode node, Fault fault, bool hostAnswers)
    {
        node.Crash(hostAnswers);
        if (restarted is null) return;
        Later(fault, () =>
        {
            if (Latest(fault.Node) == node) restarted(node.Restart());
        });
    }

    private void Cut(Fault fault, int from, int to, CutMode mode)
    {
        _cuts.Begin((from, to), fault, mode, null);
        simulation.Network.Cut(Latest(from), Latest(to), mode);
        Later(fault, () =>
        {
            var (state, isHeld) = _cuts.End((from, to), fault);
            // If all ways were healed meanwhile, this one is not cut again.
            if (!isHeld) simulation.Network.Heal(Latest(from), Latest(to));
            else if (!simulation.Network.IsOpen(Latest(from), Latest(to))) simulation.Network.Cut(Latest(from), Latest(to), state!.Value);
        });
    }

    private void Slow(Fault fault)
    {
        _slow.Begin((fault.Node, fault.Other), fault, fault.Factor, 1);
        simulation.Network.Slow(Latest(fault.Node), Latest(fault.Other), fault.Factor);
        Later(fault, () => simulation.Network.Slow(Latest(fault.Node), Latest(fault.Other), _slow.End((fault.Node, fault.Other), fault).State));
    }

    private void Busy(SimNode node, Fault fault)
    {
        _busy.Begin(node, fault, fault.Factor, 1);
        node.SlowFactor = fault.Factor;
        Later(fault, () => node.SlowFactor = _busy.End(node, fault).State);
    }

    private void Drift(SimNode node, Fault fault)
    {
        _drifts.Begin(node, fault, fault.Factor - 1, node.ClockDrift);
        node.ClockDrift = fault.Factor - 1;
        Later(fault, () => node.ClockDrift = _drifts.End(node, fault).State);
    }

    private void Partition(Fault fault)
    {
        foreach (int inside in fault.Side)
        {
            for (int outside = 0; outside < simulation.Hosts.Count; outside++)
            {
                if (fault.Side.Contains(outside)) continue;
                Cut(fault, inside, outside, CutMode.Hold);
                Cut(fault, outside, inside, CutMode.Hold);
            }
        }
    }

    private void Later(Fault fault, Action undo)
    {
        if (fault.For != Timeout.InfiniteTimeSpan) simulation.After(fault.For, undo);
    }

    private SimNode Latest(int number) => number >= 0 && number < simulation.Hosts.Count
        ? Simulation.LatestAt(simulation.Hosts[number])
        : throw new InvalidOperationException($"A fault names node {number}; there are {simulation.Hosts.Count} nodes.");
}
