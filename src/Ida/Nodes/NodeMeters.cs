using System.Diagnostics.Metrics;
using GroupCore.Basics;
using GroupCore.Diagnostics;
using GroupCore.Groups.Views;
using GroupCore.Watching;
using Oracle;

namespace Ida.Nodes;

/// <summary>
/// The meters of this process, one for each project, and the lives of nodes that they read. The meters and their instruments are there once, however many nodes and lives come and
/// go: exporters keep something for each instrument that they have ever seen. A life is added when it has begun and removed when it ends; then nothing here leads to
/// it any more, and nothing is measured of it.
/// </summary>
internal sealed class NodeMeters
{
    public const string GroupCoreName = "Ida.GroupCore", OracleName = "Ida.Oracle", IdaName = "Ida";
    private static readonly Meter s_groupCore = new(GroupCoreName), s_oracle = new(OracleName), s_ida = new(IdaName);

    // Behind the meters, which it fills.
    private static readonly NodeMeters s_shared = new();
    private readonly Lock _gate = new();

    // Replaced as a whole, so that whoever measures needs no lock.
    private volatile NodeLife[] _lives = [];

    private NodeMeters()
    {
        NodeAttributes.All.Publish(s_groupCore, () => Of(static life => life.Watch));
        GroupAttributes.All.Publish(s_groupCore, Groups);
        OracleAttributes.All.Publish(s_oracle, () => Of(static life => life.Oracle));
        DhtAttributes.All.Publish(s_ida, Dhts);
    }

    public static void Add(NodeLife life)
    {
        using (s_shared._gate.Hold()) s_shared._lives = [.. s_shared._lives, life];
        // It may have ended before it was added.
        if (life.HasEnded) Remove(life);
    }

    public static void Remove(NodeLife life)
    {
        if (Array.IndexOf(s_shared._lives, life) < 0) return;
        using (s_shared._gate.Hold()) s_shared._lives = Array.FindAll(s_shared._lives, other => other != life);
    }

    private static KeyValuePair<string, object?> NodeTag(NodeLife life) => new("node", life.Node.Links.Local.Text);

    private IEnumerable<Measured<T>> Of<T>(Func<NodeLife, T> part)
    {
        foreach (var life in _lives) yield return new(part(life), [NodeTag(life)]);
    }

    private IEnumerable<Measured<GroupProtocol>> Groups()
    {
        foreach (var life in _lives)
            foreach (var group in life.Groups.Listed)
                yield return new(group, [NodeTag(life), new("group", group.Name)]);
    }

    private IEnumerable<Measured<DhtLayer>> Dhts()
    {
        foreach (var (group, tags) in Groups())
            if (group.Layer.Attached is DhtHost { Current: { IsOver: false } dht }) yield return new(dht, tags);
    }
}
