using GroupCore.Platform;
using GroupCore.Transport;

namespace Ida.Testing;

/// <summary>
/// The network between the nodes of a simulation, and what goes wrong with it. Cuts and slow paths belong to addresses: they outlive
/// the node that listens there.
/// </summary>
public sealed class SimNetwork : ISimNetwork
{
    private readonly Simulation _simulation;
    private readonly Dictionary<(int From, int To), (CutMode Mode, long Since)> _cuts = [];
    private readonly Dictionary<(int From, int To), double> _slow = [];
    private readonly HashSet<(int From, int To)> _undialled = [];

    internal SimNetwork(Simulation simulation) => _simulation = simulation;

    /// <summary>Cuts the way from <paramref name="from"/> to <paramref name="to"/>; the way back stays open.</summary>
    public void Cut(SimNode from, SimNode to, CutMode mode = CutMode.Hold)
    {
        if (Host(from) != Host(to)) Cut(from.Host, to.Host, mode);
    }

    /// <summary>Cuts all ways between the sides; nodes that no side names are one more side.</summary>
    public void Partition(params IReadOnlyList<SimNode>[] sides) => Partition(CutMode.Hold, sides);

    /// <summary>Cuts all ways between the sides; nodes that no side names are one more side.</summary>
    public void Partition(CutMode mode, params IReadOnlyList<SimNode>[] sides)
    {
        ArgumentNullException.ThrowIfNull(sides);
        var hosts = _simulation.Hosts;
        var side = new int[hosts.Count];
        for (int i = 0; i < sides.Length; i++)
            foreach (var node in sides[i]) side[Host(node).Index] = i + 1;
        for (int from = 0; from < side.Length; from++)
            for (int to = 0; to < side.Length; to++)
                if (side[from] != side[to]) Cut(hosts[from], hosts[to], mode);
    }

    /// <summary>Removes all cuts. What was held goes on its way; connections that lost something break and resume.</summary>
    public void Heal()
    {
        _undialled.Clear();
        if (_cuts.Count == 0) return;
        var healed = new Dictionary<(int, int), (CutMode, long)>(_cuts);
        _cuts.Clear();
        foreach (var node in _simulation.Nodes)
            node.Carrier.Healed(to => healed.ContainsKey((node.Host.Index, to.Index)));
    }

    /// <summary>Removes the cut of one way.</summary>
    public void Heal(SimNode from, SimNode to)
    {
        if (!_cuts.Remove((Host(from).Index, Host(to).Index))) return;
        foreach (var node in _simulation.Nodes)
            if (node.Host == from.Host) node.Carrier.Healed(host => host == to.Host);
    }

    /// <summary>
    /// Sets whether <paramref name="to"/> answers dials of <paramref name="from"/>. If not, as behind a firewall that lets connections out and none in, the two talk over
    /// connections that the other one dials, and over those that are up. <see cref="Heal()"/> lets all dial again.
    /// </summary>
    internal void LetDial(SimNode from, SimNode to, bool lets)
    {
        if (lets) _undialled.Remove((Host(from).Index, Host(to).Index));
        else if (Host(from) != Host(to)) _undialled.Add((from.Host.Index, to.Host.Index));
    }

    /// <summary>Sets whether dials of <paramref name="to"/> are refused, as by a proxy that is gone for a while. Connections that are up stay.</summary>
    internal void RefuseDials(SimNode to, bool refuses) => Host(to).Refuses = refuses;

    internal bool MayDial(SimHost from, SimHost to) => _undialled.Count == 0 || !_undialled.Contains((from.Index, to.Index));

    /// <summary>Multiplies the latency of the way from <paramref name="from"/> to <paramref name="to"/>; 1 restores it.</summary>
    public void Slow(SimNode from, SimNode to, double factor)
    {
        if (factor is not (>= 0 and <= 1e6)) throw new ArgumentOutOfRangeException(nameof(factor), factor, "A factor of latency is in 0..1,000,000.");
        if (factor == 1) _slow.Remove((Host(from).Index, Host(to).Index));
        else _slow[(Host(from).Index, Host(to).Index)] = factor;
    }

    /// <summary>Resets the connection between two nodes. Both ends hear of it, dial again and resume.</summary>
    public void Break(SimNode first, SimNode second)
    {
        Host(second);
        Host(first).Node!.Carrier.Break(second.Host);
    }

    /// <summary>Whether the way from <paramref name="from"/> to <paramref name="to"/> is open.</summary>
    public bool IsOpen(SimNode from, SimNode to) => CutBetween(Host(from), Host(to)) is null;

    internal CutMode? CutBetween(SimHost from, SimHost to) =>
        _cuts.Count != 0 && _cuts.TryGetValue((from.Index, to.Index), out var cut) ? cut.Mode : null;

    /// <summary>Whether one way between two hosts has been cut for so long that a kernel gives up asking.</summary>
    internal bool IsCutLong(SimHost one, SimHost other) => _cuts.Count != 0 && (IsLong(one, other) || IsLong(other, one));

    private bool IsLong(SimHost from, SimHost to) =>
        _cuts.TryGetValue((from.Index, to.Index), out var cut) && _simulation.Time - cut.Since >= SimTime.Nanoseconds(KeepAlive.Shortest);

    private void Cut(SimHost from, SimHost to, CutMode mode)
    {
        bool isNew = !_cuts.TryGetValue((from.Index, to.Index), out var before);
        _cuts[(from.Index, to.Index)] = (mode, isNew ? _simulation.Time : before.Since);
        if (!isNew) return;
        from.Node?.Carrier.CutOff(to);
        to.Node?.Carrier.CutOff(from);
    }

    /// <summary>How long something takes from a host to an address, or back; no node need be there.</summary>
    internal long Latency(ref Choices choices, SimHost host, NodeAddress address, bool toRemote)
    {
        var model = _simulation.Options.Link;
        long least = SimTime.Nanoseconds(model.MinLatency);
        long latency = least + choices.UpTo(SimTime.Nanoseconds(model.MaxLatency) - least);
        if (choices.Chance(model.TailChance)) latency += SimTime.Nanoseconds(model.TailLatency);
        if (_slow.Count == 0 || _simulation.FindHost(address.Text) is not { } remote) return latency;
        var way = toRemote ? (host.Index, remote.Index) : (remote.Index, host.Index);
        return _slow.TryGetValue(way, out double factor) ? (long)(latency * factor) : latency;
    }

    CutMode? ISimNetwork.CutBetween(SimHost from, SimHost to) => CutBetween(from, to);

    bool ISimNetwork.IsCutLong(SimHost one, SimHost other) => IsCutLong(one, other);

    bool ISimNetwork.MayDial(SimHost from, SimHost to) => MayDial(from, to);

    long ISimNetwork.Latency(ref Choices choices, SimHost host, NodeAddress address, bool toRemote) => Latency(ref choices, host, address, toRemote);

    private SimHost Host(SimNode node)
    {
        ArgumentNullException.ThrowIfNull(node);
        if (node.Simulation != _simulation) throw new ArgumentException($"{node.Name} belongs to another simulation.", nameof(node));
        return node.Host;
    }
}
