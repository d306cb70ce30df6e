using Ida.Chaos.Judging;

namespace Ida.Chaos.Driving;

/// <summary>A fault too short to be noticed: how long it is to last, what was before it where it is to be judged, and what stands in the way of that already.</summary>
internal sealed record Blink(TimeSpan Length, CalmMoment? Before, string? Hindered = null);
