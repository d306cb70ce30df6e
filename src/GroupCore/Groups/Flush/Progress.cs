namespace GroupCore.Groups.Flush;

/// <summary>Something that is waited for, looked at step by step: whether it comes forward, however slowly.</summary>
internal struct Progress
{
    private long _value;
    private long _at;
    private bool _known;
    private bool _moved;

    /// <summary>
    /// Whether <paramref name="value"/> stands still: for a step since the first look; once it has moved as long as
    /// <see cref="GroupLimits.FlushSilenceNanoseconds"/>, for a frame takes its time on a slow link.
    /// </summary>
    public bool StandsStill(long value, long now)
    {
        if (!_known || value != _value) (_known, _moved, _value, _at) = (true, _known, value, now);
        return now - _at >= (_moved ? GroupLimits.FlushSilenceNanoseconds : GroupLimits.FlushStepNanoseconds);
    }
}
