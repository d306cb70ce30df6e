namespace Ida.Ordering;

/// <summary>
/// One session at one shard: outcomes of its puts above what its owner acknowledged, and the attempts poisoned in this view.
/// An attempt below <see cref="AckedBelow"/> is refused like a poisoned one: its owner no longer wants it.
/// </summary>
internal sealed class Session(UInt128 id)
{
    /// <summary><see cref="LostIn"/> of a session met at a member that waits for its state and does not know whether there is one.</summary>
    public const ulong NotHeard = ulong.MaxValue;

    // Outcomes ascend by sequence; the live ones begin at _first.
    private Outcome[] _outcomes = new Outcome[4];
    private int _first, _count;
    private readonly List<OpKey> _poisoned = [];

    public UInt128 Id { get; } = id;

    public ulong AckedBelow { get; private set; }

    /// <summary>View in which its owner was last a member; 0 while it is one.</summary>
    public ulong LostIn { get; set; }

    public int OutcomeCount => _count;

    public int PoisonedCount => _poisoned.Count;

    public Outcome OutcomeAt(int index) => _outcomes[_first + index];

    public void Acknowledge(ulong below)
    {
        if (below <= AckedBelow) return;
        AckedBelow = below;
        while (_count > 0 && _outcomes[_first].Sequence < below)
        {
            _outcomes[_first++] = default;
            _count--;
        }
        if (_count == 0) _first = 0;
        if (_poisoned.Count > 0) _poisoned.RemoveAll(one => one.Id.Sequence < AckedBelow);
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
    }

    public bool IsPoisoned(in OpKey key) => key.Id.Sequence < AckedBelow || (_poisoned.Count > 0 && _poisoned.Contains(key));

    public void Poison(in OpKey key)
    {
        if (!IsPoisoned(key)) _poisoned.Add(key);
    }

    /// <summary>A new view: attempts of the old one cannot come any more.</summary>
    public void ForgetPoison() => _poisoned.Clear();

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
