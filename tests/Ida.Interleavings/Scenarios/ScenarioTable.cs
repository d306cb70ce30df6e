namespace Ida.Interleavings.Scenarios;

/// <summary>All scenarios.</summary>
internal static class ScenarioTable
{
    public static IReadOnlyList<Scenario> All { get; } =
    [
        new QueueScenario(),
        new SignalScenario(),
        new LineScenario(),
        new SharedScenario(),
        new BatchScenario(),
        new FollowerThreadScenario(),
        new BudgetScenario(),
        new StartScenario(),
        new TurnsScenario("turns", TurnsEnd.AtLast),
        new TurnsScenario("turns-stop", TurnsEnd.AtAnyTime),
        new TurnsScenario("turns-fault", TurnsEnd.ByFault),
        new DispatcherScenario(),
        new SendsScenario(),
        new OperationsScenario(),
    ];

    public static Scenario? Find(string name) => All.FirstOrDefault(one => one.Name == name);
}
