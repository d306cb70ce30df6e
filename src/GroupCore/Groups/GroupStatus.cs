namespace GroupCore.Groups;

/// <summary>What a group of this process is waiting for: user code can be slow, and this says where.</summary>
/// <param name="ChangingView">Whether a view change is under way: calls wait for the next view.</param>
/// <param name="WaitsFor">The members or the work that the view change has waited for during the last second or longer; empty otherwise.</param>
/// <param name="EventsWaiting">Messages and views that this member's handlers have not handled.</param>
/// <param name="Handler">Name of the handler that is running; null when none is.</param>
/// <param name="HooksGivenUp">How many view changes went on without this member's hooks, because their time was over.</param>
/// <param name="SlowMembers">How often a member was found to hold the others up.</param>
public sealed record GroupStatus(bool ChangingView, IReadOnlyList<string> WaitsFor, long EventsWaiting, string? Handler, long HooksGivenUp, long SlowMembers);
