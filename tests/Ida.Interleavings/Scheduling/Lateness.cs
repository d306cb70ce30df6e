using GroupCore.Runtime;

namespace Ida.Interleavings.Scheduling;

/// <summary>
/// How late writes are in one schedule, drawn for it: none, some or all of them are late, and are seen soon, after long, or at the writer's next fence. Also how soon waits run out of time.
/// </summary>
internal readonly struct Lateness(Prng random)
{
    private static readonly int[] s_seen = [6, 40, 0], s_over = [10, 60, 400];
    private readonly Prng _random = random;
    private readonly int _oneIn = random.Next(2) == 0 ? 0 : 1 + random.Next(3);
    private readonly int _seenOneIn = s_seen[random.Next(s_seen.Length)];

    private readonly int _overOneIn = s_over[random.Next(s_over.Length)];

    public bool IsLate() => _oneIn > 0 && _random.Next(_oneIn) == 0;

    public bool IsSeen() => _seenOneIn > 0 && _random.Next(_seenOneIn) == 0;

    public bool IsOver() => _random.Next(_overOneIn) == 0;
}
