namespace Ida.Testing.Checking;

/// <summary>
/// Finds a shortest cycle in each strongly connected component, breadth first from its operations; steps into auxiliary nodes are free. The work per component is bounded, so
/// in a huge one the cycle is short but perhaps not the shortest.
/// </summary>
internal sealed class CycleFinder(DependencyGraph graph, bool timed)
{
    private const long MostWork = 20_000_000;
    private readonly int[] _component = graph.Components(timed);
    private readonly int[] _distance = new int[graph.Nodes];
    private readonly DependencyEdge[] _cameBy = new DependencyEdge[graph.Nodes];
    private readonly List<int> _touched = [];
    private long _work;

    /// <summary>For each component with a cycle, the steps of one cycle, from operation to operation.</summary>
    public IEnumerable<List<DependencyEdge>> Cycles()
    {
        var members = new SortedDictionary<int, List<int>>();
        int[] sizes = new int[graph.Nodes];
        for (int node = 0; node < graph.Nodes; node++) sizes[_component[node]]++;
        for (int node = 0; node < graph.Operations; node++)
        {
            if (sizes[_component[node]] < 2) continue;
            if (!members.TryGetValue(_component[node], out var list)) members[_component[node]] = list = [];
            list.Add(node);
        }
        Array.Fill(_distance, int.MaxValue);
        foreach (var list in members.Values)
        {
            var best = Shortest(list);
            if (best is not null) yield return best;
        }
    }

    private List<DependencyEdge>? Shortest(List<int> starts)
    {
        List<DependencyEdge>? best = null;
        _work = 0;
        foreach (int start in starts)
        {
            if (best is not null && (best.Count == 2 || _work > MostWork)) break;
            int limit = best?.Count ?? int.MaxValue;
            if (Search(start, limit) is { } back) best = Unwind(start, back);
            foreach (int node in _touched) _distance[node] = int.MaxValue;
            _touched.Clear();
        }
        return best;
    }

    /// <summary>The edge that closes a shortest cycle of less than <paramref name="limit"/> steps through the start.</summary>
    private DependencyEdge? Search(int start, int limit)
    {
        var current = new Stack<int>();
        var next = new Stack<int>();
        Reach(start, 0, default, current);
        for (int distance = 0; current.Count > 0 && distance + 1 < limit; distance++)
        {
            while (current.TryPop(out int node))
            {
                if (_distance[node] != distance) continue;
                foreach (var edge in graph.From(node))
                {
                    _work++;
                    if ((edge.Timed && !timed) || _component[edge.To] != _component[start]) continue;
                    if (edge.To == start) return edge;
                    int reached = edge.To < graph.Operations ? distance + 1 : distance;
                    if (_distance[edge.To] > reached) Reach(edge.To, reached, edge, reached == distance ? current : next);
                }
            }
            (current, next) = (next, current);
        }
        return null;
    }

    private void Reach(int node, int distance, DependencyEdge by, Stack<int> queue)
    {
        if (_distance[node] == int.MaxValue) _touched.Add(node);
        _distance[node] = distance;
        _cameBy[node] = by;
        queue.Push(node);
    }

    /// <summary>Joins the edges from the start around to the start, leaving out auxiliary nodes.</summary>
    private List<DependencyEdge> Unwind(int start, DependencyEdge closing)
    {
        var steps = new List<DependencyEdge>();
        int end = start;
        bool isTimed = false;
        for (var edge = closing; ; edge = _cameBy[edge.From])
        {
            isTimed |= edge.Timed;
            if (edge.From < graph.Operations)
            {
                steps.Add(edge with { To = end, Timed = isTimed });
                (end, isTimed) = (edge.From, false);
            }
            if (edge.From == start) break;
        }
        steps.Reverse();
        return steps;
    }
}
