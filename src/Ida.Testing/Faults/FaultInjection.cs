namespace Ida.Testing;

/// <summary>Makes faults happen to a simulation, and undoes them.</summary>
internal sealed class FaultInjection(Simulation simulation, Action<SimNode>? restarted)
{
    public void Begin(Fault fault)
    {
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
            case FaultKind.Cut: Cut(node, Latest(fault.Other), CutMode.Hold, fault.For); break;
            case FaultKind.Drop: Cut(node, Latest(fault.Other), CutMode.Drop, fault.For); break;
            case FaultKind.Slow: Slow(node, Latest(fault.Other), fault); break;
            case FaultKind.Break: simulation.Network.Break(node, Latest(fault.Other)); break;
            case FaultKind.Busy: Busy(fault); break;
            case FaultKind.Drift: Drift(fault); break;
        }
    }

    private void Down(SimNode node, Fault fault, bool hostAnswers)
    {
        if (!node.Alive) return;
        node.Crash(hostAnswers);
        if (restarted is null) return;
        Later(fault.For, () =>
        {
            if (Latest(fault.Node) == node) restarted(node.Restart());
        });
    }

    private void Cut(SimNode from, SimNode to, CutMode mode, TimeSpan time)
    {
        simulation.Network.Cut(from, to, mode);
        Later(time, () => simulation.Network.Heal(from, to));
    }

    private void Slow(SimNode from, SimNode to, Fault fault)
    {
        simulation.Network.Slow(from, to, fault.Factor);
        Later(fault.For, () => simulation.Network.Slow(from, to, 1));
    }

    private void Busy(Fault fault)
    {
        Latest(fault.Node).SlowFactor = fault.Factor;
        Later(fault.For, () => Latest(fault.Node).SlowFactor = 1);
    }

    private void Drift(Fault fault)
    {
        var node = Latest(fault.Node);
        double before = node.ClockDrift;
        node.ClockDrift = fault.Factor - 1;
        Later(fault.For, () => node.ClockDrift = before);
    }

    private void Partition(Fault fault)
    {
        foreach (int inside in fault.Side)
        {
            for (int outside = 0; outside < simulation.Hosts.Count; outside++)
            {
                if (fault.Side.Contains(outside)) continue;
                Cut(Latest(inside), Latest(outside), CutMode.Hold, fault.For);
                Cut(Latest(outside), Latest(inside), CutMode.Hold, fault.For);
            }
        }
    }

    private void Later(TimeSpan time, Action undo)
    {
        if (time != Timeout.InfiniteTimeSpan) simulation.After(time, undo);
    }

    private SimNode Latest(int number) => number >= 0 && number < simulation.Hosts.Count
        ? simulation.Hosts[number].Node!
        : throw new InvalidOperationException($"A fault names node {number}; there are {simulation.Hosts.Count} nodes.");
}
