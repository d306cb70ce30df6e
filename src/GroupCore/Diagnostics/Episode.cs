namespace GroupCore.Diagnostics;

/// <summary>
/// Something that happens again and again while it lasts, such as calls that a full queue refuses. A watch looks at its counter every second. The log is told once
/// when the episode begins, and once when no case has come for <see cref="Quiet"/>; the code in which a case happens only counts it.
/// </summary>
internal struct Episode
{
    /// <summary>After this many nanoseconds without another case the episode is over.</summary>
    public const long Quiet = 5_000_000_000;
    private long _seen;
    private long _last;
    private long _begun;
    private bool _goesOn;

    /// <summary>The cases since the episode began.</summary>
    public readonly long Cases => _seen - _begun;

    /// <summary>Looks at the counter. 1 when it begins, −1 when it is over, else 0.</summary>
    public int Look(long counter, long now)
    {
        long before = _seen;
        _seen = counter;
        if (counter != before)
        {
            _last = now;
            if (_goesOn) return 0;
            (_goesOn, _begun) = (true, before);
            return 1;
        }
        if (!_goesOn || now - _last < Quiet) return 0;
        _goesOn = false;
        return -1;
    }
}
