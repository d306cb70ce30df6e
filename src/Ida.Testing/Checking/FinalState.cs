namespace Ida.Testing.Checking;

/// <summary>The whole state of one full replica after all clients stopped.</summary>
/// <param name="Member">The replica.</param>
/// <param name="State">Each key it holds with its value.</param>
public sealed record FinalState(string Member, IReadOnlyDictionary<string, HistoryValue> State);
