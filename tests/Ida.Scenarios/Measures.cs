using System.Globalization;

namespace Ida.Scenarios;

/// <summary>Times that runs took for the same thing, by the thing's name. One run notes its own; a campaign adds them up and prints how they are spread.</summary>
internal sealed class Measures
{
    private readonly SortedDictionary<string, List<TimeSpan>> _times = new(StringComparer.Ordinal);

    public void Note(string name, TimeSpan time)
    {
        if (!_times.TryGetValue(name, out var times)) _times.Add(name, times = []);
        times.Add(time);
    }

    public void Add(Measures other)
    {
        foreach (var (name, times) in other._times)
            foreach (var time in times) Note(name, time);
    }

    /// <summary>The time that <paramref name="share"/> of those noted do not exceed; zero when none was.</summary>
    public TimeSpan At(string name, double share)
    {
        if (!_times.TryGetValue(name, out var times)) return TimeSpan.Zero;
        times.Sort();
        return times[(int)Math.Ceiling(share * times.Count) is > 0 and int place ? place - 1 : 0];
    }

    public void Print(TextWriter to)
    {
        if (_times.Count == 0) return;
        to.WriteLine("Times in ms: median, 90 %, longest, how many");
        foreach (var (name, times) in _times)
            to.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"  {At(name, 0.5).TotalMilliseconds,7:F0} {At(name, 0.9).TotalMilliseconds,7:F0} {times.Max().TotalMilliseconds,7:F0} {times.Count,7}  {name}"));
    }
}
