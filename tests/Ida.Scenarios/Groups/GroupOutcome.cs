namespace Ida.Scenarios;

/// <summary>How a schedule of groups ended; a schedule is worth something only if much is delivered, in several views.</summary>
internal readonly record struct GroupOutcome(string? Violation, long Deliveries, int Views);
