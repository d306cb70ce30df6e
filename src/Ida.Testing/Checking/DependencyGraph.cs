using System.Runtime.InteropServices;

namespace Ida.Testing.Checking;

/// <summary>
/// Directed graph over operations (nodes below <see cref="Operations"/>) and auxiliary nodes that stand for "everything before" and
/// "everything after" and keep the number of edges linear. A path through auxiliary nodes counts as one step.
/// </summary>
internal sealed class DependencyGraph(int operations)
{
    private readonly List<DependencyEdge> _edges = [];
    private int[] _first = [];
    private DependencyEdge[] _sorted = [];

    public int Operations { get; } = operations;

    public int Nodes { get; private set; } = operations;

    public int Edges => _edges.Count;

    public int AddAuxiliary() => Nodes++;

    public void Add(int from, int to, int key, DependencyKind kind, bool timed = false)
    {
        if (from != to) _edges.Add(new(from, to, key, kind, timed));
    }

    /// <summary>Sorts the edges by their start. Call it after the last edge was added.</summary>
    public void Freeze()
    {
        _first = new int[Nodes + 1];
        foreach (var edge in _edges) _first[edge.From + 1]++;
        for (int node = 0; node < Nodes; node++) _first[node + 1] += _first[node];
        _sorted = new DependencyEdge[_edges.Count];
        int[] next = _first[..Nodes];
        foreach (var edge in CollectionsMarshal.AsSpan(_edges)) _sorted[next[edge.From]++] = edge;
    }

    public ReadOnlySpan<DependencyEdge> From(int node) => _sorted.AsSpan(_first[node], _first[node + 1] - _first[node]);

    /// <summary>
    /// Numbers the strongly connected components (R. Tarjan 1972, with its own stack) and returns the component of each node. Edges that
    /// rest on real time count only if <paramref name="timed"/>.
    /// </summary>
    public int[] Components(bool timed)
    {
        int[] component = new int[Nodes], low = new int[Nodes], number = new int[Nodes], at = new int[Nodes];
        Array.Fill(component, -1);
        var open = new Stack<int>();
        var path = new Stack<int>();
        int count = 0, components = 0;
        for (int root = 0; root < Nodes; root++)
        {
            if (number[root] != 0) continue;
            Enter(root);
            while (path.TryPeek(out int node))
            {
                var edges = From(node);
                if (at[node] < edges.Length)
                {
                    var edge = edges[at[node]++];
                    if (edge.Timed && !timed) continue;
                    if (number[edge.To] == 0) Enter(edge.To);
                    else if (component[edge.To] < 0) low[node] = Math.Min(low[node], number[edge.To]);
                    continue;
                }
                path.Pop();
                if (path.TryPeek(out int parent)) low[parent] = Math.Min(low[parent], low[node]);
                if (low[node] != number[node]) continue;
                int member;
                do
                {
                    member = open.Pop();
                    component[member] = components;
                }
                while (member != node);
                components++;
            }
        }
        return component;

        void Enter(int node)
        {
            number[node] = low[node] = ++count;
            open.Push(node);
            path.Push(node);
        }
    }
}
