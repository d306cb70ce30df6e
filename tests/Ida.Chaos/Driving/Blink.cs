using Ida.Chaos.Judging;

namespace Ida.Chaos.Driving;

/// <summary>A fault too short to be noticed, and what was before it; null: it is not judged.</summary>
internal sealed record Blink(TimeSpan Length, CalmMoment? Before);
