using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>A name under which processes of a schedule join, how they join, and the checkers of each group that had the name.</summary>
internal sealed class SharedGroup
{
    private readonly SortedDictionary<GroupId, (VirtualSynchronyChecker All, VirtualSynchronyChecker Nested)> _judged = [];

    public SharedGroup(string name, Prng random, Ingredients drawn)
    {
        Name = name;
        bool evicts = random.Chance(0.15);
        Options = new()
        {
            Composition = random.Chance(0.3) ? Composition.Shift : Composition.HotSwap, StrictPrimary = random.Chance(0.8), SlowMember = evicts ? SlowMember.Evict : SlowMember.Block,
            SlowMemberTimeout = evicts ? TimeSpan.FromSeconds(random.Chance(0.3) ? 12 : 1 + random.Next(4)) : TimeSpan.FromSeconds(15),
        };
        if (Options.Composition == Composition.Shift) drawn.Draw(GroupNames.Shift);
        if (!Options.StrictPrimary) drawn.Draw(GroupNames.NotPrimary);
        if (evicts) drawn.Draw(GroupNames.Evict);
        if (Inline = random.Chance(0.15)) drawn.Draw(GroupNames.Inline);
        if (!(HasState = random.Chance(0.8))) drawn.Draw(GroupNames.NoState);
        else if (random.Chance(0.25))
        {
            drawn.Draw(GroupNames.LargeState);
            StateBytes = 300_000 + (int)random.Next(2_500_000);
        }
        if (HasState && (BySnapshot = random.Chance(0.4))) drawn.Draw(GroupNames.Snapshot);
    }

    public string Name { get; }

    public bool Evicts => Options.SlowMember == SlowMember.Evict;

    /// <summary>For how long its states were being written; any member's work may have waited for that.</summary>
    public UserWork Saves { get; } = new();

    public GroupOptions Options { get; }

    public bool Inline { get; }

    public bool HasState { get; }

    public bool BySnapshot { get; }

    public int StateBytes { get; }

    public long Deliveries => _judged.Values.Sum(static judged => judged.All.Deliveries);

    public long Views => _judged.Values.Sum(static judged => judged.All.ComparedViews);

    /// <summary>
    /// The checker of a group of this name, and that of the messages which handlers send to one member: those overtake what callers send while a view changes
    /// (multicast.md#answers-may-cross-views).
    /// </summary>
    public (VirtualSynchronyChecker All, VirtualSynchronyChecker Nested) Of(GroupId group)
    {
        if (!_judged.TryGetValue(group, out var judged))
            _judged.Add(group, judged = (new(new() { StateTransfer = HasState, StatesAgree = HasState, HandlersLag = true }), new(new() { StateTransfer = false, HandlersLag = true })));
        return judged;
    }

    /// <summary>
    /// Whether, in groups that go on, members have delivered as much as each other; messages may still be on their way to a slow member. Groups that are over do not count: a member
    /// that did not wait for its handlers may have delivered less for good.
    /// </summary>
    public bool IsEven(Func<GroupId, bool> goesOn) => _judged.All(judged => !goesOn(judged.Key) || judged.Value.All.IsEven());

    /// <summary>What was broken so far; null when nothing was.</summary>
    public string? Broken()
    {
        foreach (var (all, nested) in _judged.Values)
        {
            if (!all.Passed) return $"{Name}: {all}";
            if (Nested.Broken(nested) is { } broken) return $"{Name}, sent by handlers: {broken}";
        }
        return null;
    }

    /// <summary>The verdict at the end; null when all is well. A group that is over has no rest in which its members agree.</summary>
    public string? Verdict(Func<GroupId, bool> goesOn)
    {
        foreach (var (group, (all, nested)) in _judged)
        {
            all.CheckFinal(goesOn(group));
            nested.CheckFinal(goesOn(group));
        }
        return Broken();
    }
}
