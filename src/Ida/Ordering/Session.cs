using Ida.Shared;

namespace Ida.Ordering;

/// <summary>
/// One session at one shard: outcomes of its puts above what its owner acknowledged, and the attempts rejected in this view.
/// An attempt below <see cref="AckedBelow"/> is refused like a rejected one: its owner no longer wants it.
/// </summary>
internal sealed class Session(UInt128 id)
{
    /// <summary><see cref="LostIn"/> of a session that a member without its state has met without knowing whether it exists.</summary>
    public const ulong NotHeard = ulong.MaxValue;

    /// <summary>Most puts whose refused attempts are remembered one by one; beyond that, the older puts share one number.</summary>
    public const int MostRejected = 4096;

    // An array of more outcomes than this shrinks when at most an eighth of it is used.
    private const int MostIdle = 16_384;

    // With more refused attempts than this, the collections are dropped at the next view instead of being cleared.
    private const int MostIdleRejected = 64;

    // Outcomes ascend by sequence; the live ones begin at _first.
    private Outcome[] _outcomes = new Outcome[4];
    private int _first, _count;

    // The highest refused attempt by put and issuer: attempts are numbered upwards, so a lower one comes late, and refusing it costs nothing.
    private Dictionary<(ulong Sequence, ulong Payload), uint>? _rejected;

    // Attempts refused on the word of a member that is not their issuer. That word may be false, so it refuses only the attempt that it names.
    private HashSet<AttemptId>? _alone;

    // For puts below the first number, all attempts up to the second are refused.
    private ulong _refusedBelow;
    private uint _refusedUpTo;

    public UInt128 Id { get; } = id;

    public ulong AckedBelow { get; private set; }

    /// <summary>
    /// Puts below this number were acknowledged before the view change whose state this member received. An acknowledgement in this view says
    /// less: it may overtake the commit of its put.
    /// </summary>
    public ulong OverBelow { get; private set; }

    /// <summary>View in which its owner was last a member; 0 while the owner is a member.</summary>
    public ulong LostIn { get; set; }

    /// <summary>Whether its owner was a member and no longer is.</summary>
    public bool IsLost => LostIn is not (0 or NotHeard);

    public int OutcomeCount => _count;

    /// <summary>Memory that the outcomes take.</summary>
    public long OutcomeBytes { get; private set; }

    /// <summary>Whether outcomes of its owner's puts take so much that no more puts are taken. Sessions of departed members are bounded together instead.</summary>
    public bool IsFull(long mostBytes) => LostIn == 0 && OutcomeBytes >= mostBytes;

    /// <summary>
    /// Whether no earlier put of the owner is open, as far as is known here. The outcomes of all later puts are kept until this one ends,
    /// so it is taken however much is remembered.
    /// </summary>
    public bool IsOldest(ulong sequence) => sequence == AckedBelow;

    /// <summary>The session as it was at the view change, while a source sends it to newcomers.</summary>
    public SessionCut? Cut { get; set; }

    public int RejectedCount => _rejected?.Count ?? 0;

    /// <summary>Number of attempts that are remembered as refused, by whatever word.</summary>
    public int RefusedCount => RejectedCount + (_alone?.Count ?? 0);

    /// <summary>Size of the array of outcomes; for checks.</summary>
    public int Places => _outcomes.Length;

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
        if (_count == 0) _first = 0;
        // Many outcomes gather behind a put that is stuck. When they go, a few are always left while others are on the way: shrink before none is left.
        if (_outcomes.Length <= MostIdle || _count > _outcomes.Length / 8) return;
        var fewer = new Outcome[Math.Max(4, _count * 2)];
        Array.Copy(_outcomes, _first, fewer, 0, _count);
        (_outcomes, _first) = (fewer, 0);
    }

    /// <summary>The arriving state says which puts had been acknowledged before its view change.</summary>
    public void Receive(ulong ackedBelow)
    {
        OverBelow = Math.Max(OverBelow, ackedBelow);
        Acknowledge(ackedBelow);
    }

    /// <summary>The first outcome with this number or a higher one whose view is before <paramref name="before"/>.</summary>
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

    /// <summary>Puts an outcome into its place by number. The shorter side moves: neither new outcomes nor those of long stuck puts make the others cost more.</summary>
    public void Record(in Outcome outcome)
    {
        if (outcome.Sequence < AckedBelow) return;
        int before = Search(outcome.Sequence) - _first, behind = _count - before;
        if (behind > 0 && _outcomes[_first + before].Sequence == outcome.Sequence) return;
        bool front = before < behind;
        if (front ? _first == 0 : _first + _count == _outcomes.Length) MakeRoom(front);
        if (front) Array.Copy(_outcomes, _first, _outcomes, --_first, before);
        else Array.Copy(_outcomes, _first + before, _outcomes, _first + before + 1, behind);
        _outcomes[_first + before] = outcome;
        _count++;
        OutcomeBytes += outcome.Bytes;
    }

    /// <summary>Moves all outcomes so that there is room at one side: at the front as much as at the end, since outcomes are added at the end too.</summary>
    private void MakeRoom(bool front)
    {
        var to = _count <= _outcomes.Length / 2 ? _outcomes : new Outcome[_outcomes.Length * 2];
        int half = (to.Length - _count) / 2, first = front ? half : Math.Min(_first, half);
        Array.Copy(_outcomes, _first, to, first, _count);
        if (to == _outcomes)
        {
            // Clear the places that are not used any more.
            if (first < _first) Array.Clear(to, Math.Max(_first, first + _count), _first + _count - Math.Max(_first, first + _count));
            else Array.Clear(to, _first, Math.Min(first, _first + _count) - _first);
        }
        (_outcomes, _first) = (to, first);
    }

    public bool IsRejected(in AttemptId key) => key.Id.Sequence < AckedBelow || _alone?.Contains(key) == true || (key.Id.Sequence < _refusedBelow && key.Attempt <= _refusedUpTo)
        || (_rejected is { Count: > 0 } all && all.TryGetValue((key.Id.Sequence, key.Payload), out uint highest) && key.Attempt <= highest);

    /// <summary>Refuses this attempt and no other; false where no more single attempts can be remembered.</summary>
    public bool TryRejectAlone(in AttemptId key)
    {
        if (IsRejected(key)) return true;
        _alone ??= [];
        if (_alone.Count == MostRejected) _alone.RemoveWhere(one => one.Id.Sequence < AckedBelow);
        return _alone.Count < MostRejected && _alone.Add(key);
    }

    /// <summary>Refuses this attempt and all below it.</summary>
    public void Reject(in AttemptId key)
    {
        if (IsRejected(key)) return;
        _rejected ??= [];
        if (_rejected.Count == MostRejected && !_rejected.ContainsKey((key.Id.Sequence, key.Payload))) ForgetOldRejected();
        if (!IsRejected(key)) _rejected[(key.Id.Sequence, key.Payload)] = key.Attempt;
    }

    /// <summary>A new view: attempts of the old one cannot come any more.</summary>
    public void ForgetRejected()
    {
        // Honest members have a handful; a collection that held more is given back.
        if (_rejected?.Count > MostIdleRejected) _rejected = null;
        if (_alone?.Count > MostIdleRejected) _alone = null;
        _rejected?.Clear();
        _alone?.Clear();
        (_refusedBelow, _refusedUpTo) = (0, 0);
    }

    /// <summary>
    /// Drops what the owner has acknowledged; if that is less than half, two numbers replace the lower half. An issuer that is refused by
    /// these numbers goes on with its next attempt, and so comes above them.
    /// </summary>
    private void ForgetOldRejected()
    {
        var all = new KeyValuePair<(ulong Sequence, ulong Payload), uint>[_rejected!.Count];
        ((ICollection<KeyValuePair<(ulong Sequence, ulong Payload), uint>>)_rejected).CopyTo(all, 0);
        Array.Sort(all, static (a, b) => a.Key.CompareTo(b.Key));
        ulong middle = all[all.Length / 2].Key.Sequence;
        if (middle >= AckedBelow) _refusedBelow = Math.Max(_refusedBelow, all[0].Key.Sequence == middle ? middle + 1 : middle);
        foreach (var (put, attempt) in all)
        {
            if (put.Sequence >= Math.Max(AckedBelow, _refusedBelow)) break;
            if (put.Sequence >= AckedBelow) _refusedUpTo = Math.Max(_refusedUpTo, attempt);
            _rejected.Remove(put);
        }
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
