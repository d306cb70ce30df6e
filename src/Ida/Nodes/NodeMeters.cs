using System.Diagnostics.Metrics;
using GroupCore.Basics;
using GroupCore.Diagnostics;
using GroupCore.Groups.Views;
using GroupCore.Watching;
using Oracle;

namespace Ida.Nodes;

/// <summary>
/// The meters of this process, one for each project, and the lives of nodes that they read. The meters and their instruments exist once, however many nodes and lives come and
/// go: exporters keep something for each instrument that they have ever seen. A life is added when it has begun and removed when it ends; after that nothing here refers to
/// it, and it is not measured any more.
/// </summary>
internal static class NodeMeters
{
    public const string GroupCoreName = "Ida.GroupCore", OracleName = "Ida.Oracle", IdaName = "Ida";
    private static readonly Meter s_groupCore = new(GroupCoreName), s_oracle = new(OracleName), s_ida = new(IdaName);
    private static readonly Lock s_gate = new();

    // Replaced as a whole, so that measuring needs no lock.
    private static volatile NodeLife[] s_lives = [];

    /// <summary>Makes the instruments, once for the process. Runs user code, which may block: that of listeners.</summary>
    public static void Publish()
    {
        NodeAttributes.All.Publish(s_groupCore, static () => Of(static life => life.Watch));
        GroupAttributes.All.Publish(s_groupCore, Groups);
        OracleAttributes.All.Publish(s_oracle, static () => Of(static life => life.Oracle));
        DhtAttributes.All.Publish(s_ida, Dhts);
    }

    public static void Add(NodeLife life)
    {
        using (s_gate.Hold())
        {
            // A life that has ended may have been removed already.
            if (!life.HasEnded) s_lives = [.. s_lives, life];
        }
    }

    /// <summary>Removes a life that has ended, if it was added. Under the lock it sees an addition that did not see the end.</summary>
    public static void Remove(NodeLife life)
    {
        using (s_gate.Hold())
        {
            if (Array.IndexOf(s_lives, life) >= 0) s_lives = Array.FindAll(s_lives, other => other != life);
        }
    }

    private static KeyValuePair<string, object?> NodeTag(NodeLife life) => new("node", life.Node.Links.Local.Text);

    private static IEnumerable<Measured<T>> Of<T>(Func<NodeLife, T> part)
    {
        foreach (var life in s_lives) yield return new(part(life), [NodeTag(life)]);
    }

    private static IEnumerable<Measured<GroupProtocol>> Groups()
    {
        foreach (var life in s_lives)
            foreach (var group in life.Groups.Listed)
                yield return new(group, [NodeTag(life), new("group", group.Name)]);
    }

    private static IEnumerable<Measured<DhtLayer>> Dhts()
    {
        foreach (var (group, tags) in Groups())
            if (group.Layers.Find<DhtHost>() is { Current: { IsOver: false } dht }) yield return new(dht, tags);
    }
}
