namespace Ida.Interleavings.Scheduling;

/// <summary>
/// All schedules with at most so many preemptions, late writes and other things that may happen, one after the other (depth first). A lane that can go on does so, unless a preemption is
/// spent. A late write is seen at any of the points that follow.
/// </summary>
internal sealed class BoundedStrategy(int bound) : Strategy
{
    private readonly List<(int Taken, int Choices)> _path = [];
    private readonly Dictionary<Lane, int> _ran = [];
    private int _step;
    private bool _yielded;
    private int _depth;
    private int _spent;

    /// <summary>Begins the next schedule; false when there is none.</summary>
    public bool Advance()
    {
        bool first = _depth == 0 && _path.Count == 0;
        (_depth, _spent) = (0, 0);
        _ran.Clear();
        while (_path.Count > 0 && _path[^1].Taken + 1 == _path[^1].Choices) _path.RemoveAt(_path.Count - 1);
        if (_path.Count == 0) return first;
        _path[^1] = (_path[^1].Taken + 1, _path[^1].Choices);
        return true;
    }

    public override int Next(List<Lane> lanes, int current)
    {
        int next = Pick(lanes, current);
        _ran[lanes[next]] = ++_step;
        return next;
    }

    public override void OnYield(Lane lane) => _yielded = true;

    private int Pick(List<Lane> lanes, int current)
    {
        bool yielded = _yielded;
        _yielded = false;
        if (lanes.Count == 1) return 0;
        // A lane that looks for something gives way to the one that has waited longest, or two such lanes would look for ever.
        if (yielded) return lanes.IndexOf(lanes.MinBy(lane => _ran.GetValueOrDefault(lane))!);
        if (current < 0) return Choose(lanes.Count);
        if (_spent == bound) return current;
        int taken = Choose(lanes.Count);
        if (taken == 0) return current;
        _spent++;
        // The others in their order.
        return taken <= current ? taken - 1 : taken;
    }

    public override bool IsLate() => Spends();

    public override bool IsSeen() => Choose(2) != 0;

    // Asked at each point, even where no lane waits for a time: so it is not varied.
    public override bool IsOver() => false;

    public override bool Happens(int oneIn) => Spends();

    public override int Draw(int bound) => bound == 1 ? 0 : Choose(bound);

    private bool Spends()
    {
        if (_spent == bound || Choose(2) == 0) return false;
        _spent++;
        return true;
    }

    private int Choose(int choices)
    {
        if (_depth == _path.Count) _path.Add((0, choices));
        return _path[_depth++].Taken;
    }
}
