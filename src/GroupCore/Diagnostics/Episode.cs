namespace GroupCore.Diagnostics;

/// <summary>
/// Something that happens again and again while it lasts, such as calls that a full queue refuses. A watch looks at its counter every second, so that it is told once when it
/// begins, and once when it has not happened for <see cref="Quiet"/>; nothing has to be done where it happens.
/// </summary>
internal struct Episode
{
    /// <summary>After this many nanoseconds without another case it is over.</summary>
    public const long Quiet = 5_000_000_000;
    private long _seen;
    private long _last;
    private long _begun;
    private bool _goesOn;

    /// <summary>The cases since it began.</summary>
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
