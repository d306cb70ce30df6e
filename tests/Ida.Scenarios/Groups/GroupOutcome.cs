namespace Ida.Scenarios;

/// <summary>What a schedule of groups came to; a schedule is worth something only when much is delivered in several views.</summary>
internal readonly record struct GroupOutcome(string? Violation, long Deliveries, int Views);
