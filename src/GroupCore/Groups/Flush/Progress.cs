namespace GroupCore.Groups.Flush;

/// <summary>Tells whether something that is waited for makes progress, however slow; asked at every look.</summary>
internal struct Progress
{
    private long _value;
    private long _at;
    private bool _known;
    private bool _moved;

    /// <summary>
    /// Whether <paramref name="value"/> stands still: for one step since the first look, or, once it has moved, for
    /// <see cref="GroupLimits.FlushSilenceNanoseconds"/>, since a frame takes its time on a slow link.
    /// </summary>
    public bool StandsStill(long value, long now)
    {
        if (!_known || value != _value) (_known, _moved, _value, _at) = (true, _known, value, now);
        return now - _at >= (_moved ? GroupLimits.FlushSilenceNanoseconds : GroupLimits.FlushStepNanoseconds);
    }
}
