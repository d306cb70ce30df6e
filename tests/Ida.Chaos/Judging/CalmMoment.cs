using Ida.Chaos.Members;

namespace Ida.Chaos.Judging;

/// <summary>What all members said of themselves when all was well. A blink, too short to be noticed, changes nothing of it.</summary>
internal sealed class CalmMoment(IEnumerable<(string Name, MemberStatus Status)> members)
{
    private readonly SortedDictionary<string, MemberStatus> _before = new(members.ToDictionary(static one => one.Name, static one => one.Status), StringComparer.Ordinal);

    /// <summary>The first member that is gone, not active any more, in another view or new; null if all is as it was.</summary>
    public string? Change(IEnumerable<(string Name, MemberStatus Status)> members)
    {
        var after = members.ToDictionary(static one => one.Name, static one => one.Status);
        foreach (var (name, before) in _before)
        {
            if (!after.TryGetValue(name, out var now)) return $"{name} is gone";
            if (!now.Active) return $"{name} is not active any more, and was in view {before.View} of {before.Members}";
            if (now.View != before.View || now.Members != before.Members) return $"{name} is in view {now.View} of {now.Members}, and was in view {before.View} of {before.Members}";
        }
        return after.Keys.FirstOrDefault(name => !_before.ContainsKey(name)) is { } more ? $"{more} is new" : null;
    }

    /// <summary>
    /// The first member that was held up since then for longer than is allowed, by its own word; null if none was.
    /// A member that was stopped may be held up longer, by the time of the stop.
    /// </summary>
    public string? HeldUp(IEnumerable<(string Name, MemberStatus Status)> members, TimeSpan allowed, string? stopped = null, TimeSpan stop = default)
    {
        foreach (var (name, now) in members)
        {
            if (!_before.TryGetValue(name, out var before)) continue;
            long late = now.HeldUpMs - before.HeldUpMs;
            if (late > (allowed + (name == stopped ? stop : TimeSpan.Zero)).TotalMilliseconds) return $"{name} was held up for {late} ms";
        }
        return null;
    }
}
