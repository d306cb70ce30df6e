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
        new StandInScenario(),
        new BudgetScenario(),
        new StartScenario(),
        new TurnsScenario("turns", TurnsEnd.AtLast, ["return-looks", "idle-looks", "posted-fence", "return-timer", "borrow-exchange", "borrow-again", "take-exchange", "relieve", "run-parked"]),
        new TurnsScenario("turns-stop", TurnsEnd.AtAnyTime, ["posted-stopped", "end-away", "abandon-lock"]),
        new TurnsScenario("turns-fault", TurnsEnd.ByFault, ["fault-rouse"]),
        new DispatcherScenario(),
        new SendsScenario(),
        new OperationsScenario(),
    ];

    public static Scenario? Find(string name) => All.FirstOrDefault(one => one.Name == name);
}
