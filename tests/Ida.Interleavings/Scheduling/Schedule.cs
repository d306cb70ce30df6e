namespace Ida.Interleavings.Scheduling;

/// <summary>
/// One run of a scenario: its lanes run one at a time, and at each point the strategy says which goes on. Time is the schedule's own. The schedule fails when a lane says so or throws,
/// when nobody can go on though some lanes have not ended, and when it does not end.
/// </summary>
/// <remarks>
/// A write of a shared field may be late: the writer sees it and the others do not, until a fence, an atomic operation, a lock or a wait of the writer, or any time before (total
/// store order). Nothing else is reordered.
/// </remarks>
internal sealed class Schedule(Strategy strategy, Workers workers)
{
    private const int MostPoints = 40_000;
    private const long YieldNanoseconds = 20_000;
    private static int s_number;
    private readonly List<Lane> _lanes = [];
    private readonly List<Lane> _able = [];
    private readonly List<(Lane Lane, Place Place)> _trace = [];
    private bool _ending;
    private int _late;

    /// <summary>The number of this schedule in the process: seams begin anew if they belong to an older one.</summary>
    public int Number { get; } = ++s_number;

    /// <summary>The clock, in nanoseconds.</summary>
    public long Now { get; set; } = 1_000_000_000;

    /// <summary>What went wrong first.</summary>
    public string? Failure { get; private set; }

    /// <summary>Only lanes that serve are left, and are to end.</summary>
    public bool IsEnding => _ending;

    public int Points => _trace.Count;

    public IReadOnlyList<(Lane Lane, Place Place)> Trace => _trace;

    /// <summary>Things of the seams that belong to this schedule.</summary>
    public Dictionary<object, object> Things { get; } = new(ReferenceEqualityComparer.Instance);

    /// <summary>What the schedule has reached of the things that its scenario has to reach.</summary>
    public HashSet<string> Reached { get; } = [];

    public int Draw(int bound) => strategy.Draw(bound);

    public bool Happens(int oneIn) => strategy.Happens(oneIn);

    /// <summary>Adds a thread.</summary>
    public Lane Start(string name, Action body, bool serves = false)
    {
        if (Lane.Current is { } current) Settle(current);
        var worker = workers.Rent();
        var lane = new Lane(this, _lanes.Count, name, body, worker) { Serves = serves, At = new("begins", "", 0) };
        worker.Assign(lane);
        _lanes.Add(lane);
        return lane;
    }

    /// <summary>Runs all lanes to their end.</summary>
    public void Run()
    {
        GoOn(null);
        workers.Ended.Take();
        if (Failure is null && !_ending)
        {
            _ending = true;
            if (_lanes.Exists(static lane => !lane.IsOver))
            {
                GoOn(null);
                workers.Ended.Take();
            }
        }
        // After a failure the other lanes stay where they are for ever.
        if (Failure is null)
            foreach (var lane in _lanes) workers.Return(lane.Worker);
    }

    /// <summary>While set, points do nothing, so no other lane goes on.</summary>
    public bool IsQuiet { get; set; }

    /// <summary>Another lane may go on here.</summary>
    public void Point(Lane lane, Place place)
    {
        if (IsQuiet) return;
        Note(lane, place);
        if (_late > 0 && strategy.IsSeen()) SettleOne();
        GoOn(lane);
    }

    /// <summary>The lane has nothing to do until another lane has done something.</summary>
    public void Yield(Lane lane, Place place)
    {
        Note(lane, place);
        Settle(lane);
        lane.Yields = true;
        Now += YieldNanoseconds;
        strategy.OnYield(lane);
        GoOn(lane);
    }

    /// <summary>Waits for a condition; false when the time passed first.</summary>
    public bool Wait(Lane lane, Place place, Func<bool> until, long nanoseconds = long.MaxValue)
    {
        Note(lane, place);
        Settle(lane);
        (lane.Until, lane.Due, lane.IsLate) = (until, nanoseconds == long.MaxValue ? long.MaxValue : Now + nanoseconds, false);
        GoOn(lane);
        (lane.Until, lane.Due) = (null, long.MaxValue);
        return !lane.IsLate;
    }

    /// <summary>A write that the others may see later.</summary>
    public void Write(Lane lane, Action write)
    {
        if (lane.Late.Count == 0 && !strategy.IsLate())
        {
            write();
            return;
        }
        lane.Late.Enqueue(write);
        _late++;
    }

    /// <summary>The others see all that the lane wrote.</summary>
    public void Settle(Lane lane)
    {
        while (lane.Late.TryDequeue(out var write))
        {
            _late--;
            write();
        }
    }

    /// <summary>Ends the schedule here, with this failure.</summary>
    public void Fail(string what)
    {
        Failure ??= what;
        if (Lane.Current is null) return;
        workers.Ended.Give();
        Thread.Sleep(Timeout.Infinite);
    }

    /// <summary>Lets the next lane go on, and returns when it is this one's turn again.</summary>
    public void GoOn(Lane? from)
    {
        var next = Choose(from);
        if (next is null)
        {
            if (_lanes.Exists(lane => !lane.IsOver && (_ending || !lane.Serves))) Failure ??= $"Nobody can go on: {Stand()}";
            workers.Ended.Give();
        }
        else if (next != from)
        {
            next.Worker.Baton.Give();
        }
        if (next != from && from is { IsOver: false }) from.Worker.Baton.Take();
    }

    private void Note(Lane lane, Place place)
    {
        lane.At = place;
        _trace.Add((lane, place));
        if (_trace.Count == MostPoints) Fail($"It has not ended after {MostPoints} points: {Stand()}");
    }

    private string Stand() => string.Join("; ", _lanes.Where(static lane => !lane.IsOver).Select(static lane => $"{lane.Name} stands at {lane.At}"));

    private void SettleOne()
    {
        int skip = strategy.Draw(_late);
        foreach (var lane in _lanes)
        {
            if (skip < lane.Late.Count)
            {
                _late--;
                lane.Late.Dequeue()();
                return;
            }
            skip -= lane.Late.Count;
        }
    }

    private Lane? Choose(Lane? from)
    {
        var next = ChooseAble(from);
        if (next is null) return null;
        next.Yields = false;
        if (next != from)
            foreach (var lane in _lanes) lane.Yields = false;
        return next;
    }

    private Lane? ChooseAble(Lane? from)
    {
        bool early = strategy.IsOver();
        Find(early, yielding: false);
        // Lanes that found nothing to do look again.
        if (_able.Count == 0) Find(early, yielding: true);
        if (_able.Count == 0 && Earliest() is { } waits) _able.Add(waits);
        if (_able.Count == 0) return null;
        int current = -1;
        for (int i = 0; i < _able.Count; i++)
            if (_able[i] == from && from is { IsOver: false, Until: null, Yields: false }) current = i;
        var next = _able[strategy.Next(_able, current)];
        if (next.Until is { } until && !until())
        {
            next.IsLate = true;
            Now = Math.Max(Now, next.Due);
        }
        return next;
    }

    private void Find(bool early, bool yielding)
    {
        _able.Clear();
        foreach (var lane in _lanes)
            if (!lane.IsOver && lane.Yields == yielding && (lane.Until is null || lane.Until() || lane.Due <= Now || (early && lane.Due != long.MaxValue))) _able.Add(lane);
    }

    private Lane? Earliest()
    {
        Lane? earliest = null;
        foreach (var lane in _lanes)
            if (!lane.IsOver && lane.Due != long.MaxValue && (earliest is null || lane.Due < earliest.Due)) earliest = lane;
        return earliest;
    }
}
