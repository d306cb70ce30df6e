using Ida.Chaos.Judging;

namespace Ida.Chaos.Driving;

/// <summary>A fault too short to be noticed: how long it is to last; if it is to be judged, what members said before it; and what already stands in the way of a judgement.</summary>
internal sealed record Blink(TimeSpan Length, CalmMoment? Before, string? Hindered = null);
