using GroupCore.Groups;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>Judges that a node at rest keeps nothing of the past: commands, timers, links, bytes and slabs of them, frames that came too early, operations.</summary>
internal static class Leftovers
{
    /// <summary>The ingredient of a run in which nodes were judged after a long rest.</summary>
    public const string Judged = "nodes judged after a long rest";

    // A reset or a lost dial may come at any time, and leave for 5 s a connection that has not said who it is: only what is wrong at each look is wrong.
    private const int Looks = 4;
    private static readonly TimeSpan s_apart = TimeSpan.FromSeconds(7);

    // Until links to nodes that have gone are over: 180 s at most until a connection to a machine that vanished is reset, and a minute without a connection until a link that nobody
    // holds ends.
    private static readonly TimeSpan s_longRest = TimeSpan.FromSeconds(250), s_second = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Rests so long that links to nodes that have gone are over. The rest begins again if a node has ended meanwhile: where sockets may fail, bad luck with dials among few nodes
    /// may exclude one at any time. Elsewhere no dial gets lost, so a node may end only because of what was before the rest.
    /// </summary>
    /// <param name="simulation">What rests.</param>
    /// <param name="settled">Whether all that was before the rest is over; if not, a node may still end because of it.</param>
    /// <param name="look">Called every second of the rest.</param>
    public static async Task RestLongAsync(Simulation simulation, bool settled, Action? look = null)
    {
        for (bool mayEnd = !settled || MayLoseAny(simulation); ; mayEnd = MayLoseAny(simulation))
        {
            var living = Lives(simulation);
            if (look is null) await simulation.Delay(s_longRest);
            for (var left = s_longRest; look is not null && left > TimeSpan.Zero; left -= s_second)
            {
                await simulation.Delay(s_second);
                look();
            }
            if (Lives(simulation).SequenceEqual(living)) return;
            if (!mayEnd) throw new ScenarioFailedException($"{living.Find(static node => !node.Alive)?.Name} has ended while all were at rest.");
        }
    }

    /// <summary>Whether a node may end by bad luck alone.</summary>
    public static bool MayLoseAny(Simulation simulation) => simulation.Options.Carrier == SimCarrier.Mesh && simulation.Sockets.MayFail;

    /// <summary>Judges nodes after a long rest; throws for what they keep at each of several looks. Nothing more is judged if some node begins or ends meanwhile.</summary>
    public static async Task JudgeAsync(IEnumerable<SimMember> members, ScenarioRun run)
    {
        var wrong = members.ToList();
        var lives = wrong.Count > 0 ? Lives(wrong[0].Host.Simulation) : [];
        if (wrong.Count > 0) run.Ingredients.Draw(Judged);
        for (int look = 1; ; look++)
        {
            wrong = wrong.FindAll(static one => (Of(one) ?? OfLinks(one)) is not null);
            if (wrong.Count == 0 || !Lives(wrong[0].Host.Simulation).SequenceEqual(lives)) return;
            if (look == Looks) throw new ScenarioFailedException(Of(wrong[0]) ?? OfLinks(wrong[0])!);
            await wrong[0].Host.Simulation.Delay(s_apart);
        }
    }

    /// <summary>What a node keeps too much of at any rest, as a report names it; null if it keeps only what it needs.</summary>
    public static string? Of(SimMember member)
    {
        int groups = member.Node.Groups.Count;
        var rest = AtRest(member.Host) with { Groups = groups, HasLog = member.Host.Node.Log.IsOn, Early = groups == 0 ? 0 : ((GroupHost)member.Node.Groups[0].Host).EarlyBytes, Stored = member.Node.Groups.Sum(static group => group.View is null ? 0 : group.Multicast.KeptBytes) };
        return rest.Excess is { } excess ? $"{member} is at rest: {excess} {rest}" : null;
    }

    // What is wrong with the links of a node after a long rest.
    private static string? OfLinks(SimMember member)
    {
        var simulation = member.Host.Simulation;
        var living = simulation.Nodes.Where(static node => node.Alive).Select(AtRest).ToList();
        var seeds = Enumerable.Range(0, SimCluster.Seeds).Select(seed => Simulation.AddressOf(seed, simulation.Options.Carrier));
        bool votes = member.Node.Voters.Contains(member.Node.Address.Text);
        var rest = AtRest(member.Host) with { Living = living, Watched = votes ? [.. seeds.Where(seed => !living.Exists(node => node.Address == seed))] : [] };
        return rest.WrongLink is { } wrong ? $"{member} has rested for long: {wrong} {rest}" : null;
    }

    // A node whose program restarts it at once is another node.
    private static List<SimNode> Lives(Simulation simulation) => [.. simulation.Nodes.Where(static node => node.Alive)];

    private static NodeAtRest AtRest(SimNode node) => new(node.Id, node.Address, node.Kept);

    /// <summary>What a member keeps of operations of the DHT, of keys that they used, and of transfers, though nobody calls any more; null where there is nothing.</summary>
    public static string? Of(SimMember member, Dht dht)
    {
        var (coordinator, participant, source) = (dht.Layer.Coordinator, dht.Layer.Participant, dht.Layer.Source);
        return coordinator.HasWork || source.HasWork || participant is not { Records.Count: 0, KeysInUse: 0, Slice.Snapshot.KeptCount: 0 }
            ? $"{member} is at rest and keeps {participant.Records.Count} operations, {participant.KeysInUse} keys in use, {participant.Slice.Snapshot.KeptCount} entries of a snapshot, and work of its own: {coordinator.HasWork}."
            : SliceSizes.Wrong(participant.Slice.Table);
    }
}
