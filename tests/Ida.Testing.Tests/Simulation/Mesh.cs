namespace Ida.Testing.Tests;

/// <summary>Chatters that all talk to each other. An invariant checks the order of frames.</summary>
internal sealed class Mesh
{
    private readonly List<Chatter> _chatters = [];

    /// <summary>If asked for by address alone, over sockets a node may have two peer numbers: one for the address, and one under which it dialled in.</summary>
    public Mesh(Simulation simulation, int nodes, TimeSpan interval, int payload = 32, bool byId = false)
    {
        for (int i = 0; i < nodes; i++) _chatters.Add(new(simulation.AddNode(), payload));
        Nodes = [.. simulation.Nodes];
        for (int from = 0; from < nodes; from++)
            for (int to = 0; to < nodes; to++)
                if (from != to) _chatters[from].Open(Nodes[to], byId ? Nodes[to].Id : 0);
        foreach (var chatter in _chatters) chatter.Start(interval);
        simulation.AddInvariant("each frame once and in order", () => Broken);
    }

    public List<SimNode> Nodes { get; }

    public Chatter this[int node] => _chatters[node];

    public long Deliveries => _chatters.Sum(c => c.Deliveries);

    public string? Broken
    {
        get
        {
            foreach (var chatter in _chatters)
                if (chatter.Broken is not null) return chatter.Broken;
            return null;
        }
    }

    public void Silence()
    {
        foreach (var chatter in _chatters) chatter.Silent = true;
    }

    public void Silence(int node) => _chatters[node].Silent = true;

    public Dictionary<(int From, int To), uint> ReceivedFrom()
    {
        var counts = new Dictionary<(int, int), uint>();
        for (int to = 0; to < Nodes.Count; to++)
        {
            foreach (int peer in _chatters[to].Peers) counts[(Index(to, peer), to)] = 0;
            foreach (var (peer, count) in _chatters[to].Received) counts[(Index(to, peer), to)] += count;
        }
        return counts;
    }

    /// <summary>What was sent and did not arrive; "" if nothing is missing.</summary>
    public string Missing()
    {
        var missing = new List<string>();
        var received = ReceivedFrom();
        for (int from = 0; from < Nodes.Count; from++)
        {
            foreach (int peer in _chatters[from].Peers)
            {
                int to = Index(from, peer);
                uint sent = _chatters[from].SentTo(peer), came = received[(from, to)];
                if (sent != came) missing.Add($"{from}>{to}: {sent} sent, {came} came");
            }
        }
        return string.Join("; ", missing);
    }

    private int Index(int node, int peer)
    {
        var address = Nodes[node].Node.Links.AddressOf(peer);
        return Nodes.FindIndex(n => n.Address == address);
    }
}
