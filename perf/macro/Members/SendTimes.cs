namespace Ida.Perf.Macro.Members;

/// <summary>When the latest messages were given to the group, by their numbers.</summary>
internal sealed class SendTimes
{
    private readonly long[] _times = new long[1 << 16];

    public long this[long sequence]
    {
        get => Volatile.Read(ref _times[sequence & (_times.Length - 1)]);
        set => Volatile.Write(ref _times[sequence & (_times.Length - 1)], value);
    }
}
