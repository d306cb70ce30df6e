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
    ]) { Aside = [OracleScenarios.Pauses, ClusterScenarios.GroupsOverMesh, GroupScenarios.SurfaceOverMesh] };

    public static Suite Ida { get; } = new("ida", 
    [
        .. Enumerable.Repeat(DhtScenarios.Strict, 15), .. Enumerable.Repeat(DhtScenarios.Surface, 15), .. Enumerable.Repeat(DhtScenarios.LeavesAndCrashes, 5), .. Enumerable.Repeat(DhtScenarios.Ordered, 3),
        DhtScenarios.Leaves, ClusterScenarios.History,
    ]) { Aside = [ClusterScenarios.HistoryOverMesh] };

    /// <summary>What runs only when it is named and has no turn among the others: what measures, and whole nodes over the TCP mesh, so that a seed goes on to mean what it did.</summary>
    public IReadOnlyList<Scenario> Aside { get; init; } = [];

    public static IReadOnlyList<Suite> All { get; } = [Groups, Ida];

    public override string ToString() => Name;

    public Scenario Of(ulong seed) => Round[(int)(seed % (ulong)Round.Count)];
}
