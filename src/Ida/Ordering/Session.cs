namespace Ida.Ordering;

/// <summary>
/// One session at one shard: outcomes of its puts above what its owner acknowledged, and the attempts poisoned in this view.
/// An attempt below <see cref="AckedBelow"/> is refused like a poisoned one: its owner no longer wants it.
/// </summary>
internal sealed class Session(UInt128 id)
{
    /// <summary><see cref="LostIn"/> of a session met at a member that waits for its state and does not know whether there is one.</summary>
    public const ulong NotHeard = ulong.MaxValue;

    /// <summary>Refused attempts that are remembered one by one; beyond, the older ones are remembered by <see cref="RefusesAll"/>.</summary>
    public const int MostPoisoned = 4096;

    // Room for outcomes beyond which it is given back when none is left.
    private const int MostIdle = 16_384;

    // Outcomes ascend by sequence; the live ones begin at _first.
    private Outcome[] _outcomes = new Outcome[4];
    private int _first, _count;
    private HashSet<OpKey>? _poisoned;
    private ulong _refusedBelow;

    public UInt128 Id { get; } = id;

    public ulong AckedBelow { get; private set; }

    /// <summary>View in which its owner was last a member; 0 while it is one.</summary>
    public ulong LostIn { get; set; }

    public int OutcomeCount => _count;

    /// <summary>Memory that they take.</summary>
    public long OutcomeBytes { get; private set; }

    /// <summary>Whether so much is remembered of its owner's puts that no more are taken; a session of a member that is gone gets no new ones.</summary>
    public bool IsFull(long mostBytes) => LostIn == 0 && OutcomeBytes >= mostBytes;

    /// <summary>The session as it was at the boundary, while newcomers are given that.</summary>
    public SessionCut? Cut { get; set; }

    public int PoisonedCount => _poisoned?.Count ?? 0;

    public Outcome OutcomeAt(int index) => _outcomes[_first + index];

    public void Acknowledge(ulong below)
    {
        if (below <= AckedBelow) return;
        AckedBelow = below;
        while (_count > 0 && _outcomes[_first].Sequence < below)
        {
            ref var outcome = ref _outcomes[_first++];
            Cut?.Keep(outcome);
            OutcomeBytes -= outcome.Bytes;
            outcome = default;
            _count--;
        }
        if (_count > 0) return;
        _first = 0;
        if (_outcomes.Length > MostIdle) _outcomes = new Outcome[4];
    }

    /// <summary>The first outcome with this number or a higher one that was there before a view.</summary>
    public bool TryNext(ulong sequence, ulong before, out Outcome outcome)
    {
        for (int at = Search(sequence); at < _first + _count; at++)
        {
            outcome = _outcomes[at];
            if (outcome.View < before) return true;
        }
        outcome = default;
        return false;
    }

    public bool TryGet(ulong sequence, out Outcome outcome)
    {
        int at = Search(sequence);
        bool found = at < _first + _count && _outcomes[at].Sequence == sequence;
        outcome = found ? _outcomes[at] : default;
        return found;
    }

    public void Record(in Outcome outcome)
    {
        if (outcome.Sequence < AckedBelow) return;
        if (_first + _count == _outcomes.Length)
        {
            if (_first > _outcomes.Length / 2) Array.Copy(_outcomes, _first, _outcomes, 0, _count);
            else
            {
                var larger = new Outcome[_outcomes.Length * 2];
                Array.Copy(_outcomes, _first, larger, 0, _count);
                _outcomes = larger;
            }
            _first = 0;
        }
        int at = Search(outcome.Sequence);
        if (at < _first + _count && _outcomes[at].Sequence == outcome.Sequence) return;
        Array.Copy(_outcomes, at, _outcomes, at + 1, _first + _count - at);
        _outcomes[at] = outcome;
        _count++;
        OutcomeBytes += outcome.Bytes;
    }

    public bool IsPoisoned(in OpKey key) => key.Id.Sequence < AckedBelow || RefusesAll(key.Id.Sequence) || (_poisoned is { Count: > 0 } all && all.Contains(key));

    /// <summary>So many attempts were refused in this view that every one with a number as low is refused for the rest of it.</summary>
    public bool RefusesAll(ulong sequence) => sequence < _refusedBelow;

    public void Poison(in OpKey key)
    {
        if (IsPoisoned(key)) return;
        _poisoned ??= [];
        if (_poisoned.Count == MostPoisoned) ForgetOldPoison();
        if (!IsPoisoned(key)) _poisoned.Add(key);
    }

    /// <summary>A new view: attempts of the old one cannot come any more.</summary>
    public void ForgetPoison()
    {
        _poisoned?.Clear();
        _refusedBelow = 0;
    }

    /// <summary>Drops what the owner has acknowledged; where that is less than half, the lower half becomes one number.</summary>
    private void ForgetOldPoison()
    {
        var all = new OpKey[_poisoned!.Count];
        _poisoned.CopyTo(all);
        Array.Sort(all, static (a, b) => a.CompareTo(b));
        if (all[all.Length / 2].Id.Sequence >= AckedBelow)
        {
            ulong middle = all[all.Length / 2].Id.Sequence;
            _refusedBelow = Math.Max(_refusedBelow, all[0].Id.Sequence == middle ? middle + 1 : middle);
        }
        _poisoned.Clear();
        foreach (var key in all)
            if (!IsPoisoned(key)) _poisoned.Add(key);
    }

    private int Search(ulong sequence)
    {
        int low = _first, high = _first + _count;
        if (high > low && _outcomes[high - 1].Sequence < sequence) return high;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (_outcomes[middle].Sequence < sequence) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}
