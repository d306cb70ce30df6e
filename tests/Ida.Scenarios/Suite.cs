namespace Ida.Scenarios;

/// <summary>
/// What a campaign runs: scenarios by turns. A seed always means the same scenario of its suite, so that the suite and the seed are the
/// whole replay. The whole-stack scenarios take as long as some ten of the others and come up once in a round.
/// </summary>
internal sealed record Suite(string Name, IReadOnlyList<Scenario> Round)
{
    public static Suite Groups { get; } = new("groups",
    [
        .. GroupScenarios.All, .. GroupScenarios.All, .. GroupScenarios.All,
        OracleScenarios.Spared, OracleScenarios.Wild, OracleScenarios.Surface,
        GroupScenarios.Surface, GroupScenarios.Surface,
        ClusterScenarios.Groups,
    ]) { Aside = [OracleScenarios.Pauses, OracleScenarios.Founding, ClusterScenarios.GroupsListened], Shared = [[GroupScenarios.Surface, GroupScenarios.Surface, GroupScenarios.SurfaceOverMesh], [ClusterScenarios.Groups, ClusterScenarios.Groups, ClusterScenarios.GroupsOverMesh, ClusterScenarios.GroupsLasting]] };

    public static Suite Ida { get; } = new("ida", 
    [
        .. Enumerable.Repeat(DhtScenarios.Strict, 15), .. Enumerable.Repeat(DhtScenarios.Surface, 15), .. Enumerable.Repeat(DhtScenarios.LeavesAndCrashes, 5), .. Enumerable.Repeat(DhtScenarios.Ordered, 3),
        DhtScenarios.Leaves, ClusterScenarios.History,
    ]) { Aside = [ClusterScenarios.HistoryListened], Shared = [[ClusterScenarios.History, ClusterScenarios.HistoryOverMesh, ClusterScenarios.Lives, ClusterScenarios.LivesOverMesh]] };

    /// <summary>Scenarios that have no turn among the others and run only when they are named: those that measure, and those that need something in the whole process.</summary>
    public IReadOnlyList<Scenario> Aside { get; init; } = [];

    /// <summary>Lists of scenarios that share the turns of their first, in equal parts: the same over the TCP mesh, and the like.</summary>
    public IReadOnlyList<IReadOnlyList<Scenario>> Shared { get; init; } = [];

    /// <summary>All that can be named.</summary>
    public IEnumerable<Scenario> Scenarios => Round.Concat(Aside).Concat(Shared.SelectMany(static turn => turn)).Distinct();

    public static IReadOnlyList<Suite> All { get; } = [Groups, Ida];

    public override string ToString() => Name;

    public Scenario Of(ulong seed)
    {
        var one = Round[(int)(seed % (ulong)Round.Count)];
        // Not by the seed's remainder, which has already chosen the turn.
        return Shared.FirstOrDefault(turn => turn[0] == one) is { } turn ? turn[(int)((uint)((seed * 0xA24B_AED4_963E_E407) >> 32) % (uint)turn.Count)] : one;
    }
}
