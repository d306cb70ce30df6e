using System.Text;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>How often each type of frame was drawn with each mutation.</summary>
internal sealed class FrameTally
{
    private readonly SortedDictionary<FrameType, long[]> _counts = [];

    public long Count { get; private set; }

    public void Add(HostileFrame frame)
    {
        if (!_counts.TryGetValue(frame.Type, out var counts)) _counts.Add(frame.Type, counts = new long[Enum.GetValues<Mutation>().Length]);
        counts[(int)frame.Mutation]++;
        Count++;
    }

    /// <summary>One line per type, one column per mutation.</summary>
    public override string ToString()
    {
        var text = new StringBuilder($"{"type",-18}");
        foreach (var mutation in Enum.GetValues<Mutation>()) text.Append($"{mutation,9}");
        foreach (var (type, counts) in _counts)
        {
            text.AppendLine().Append($"{type,-18}");
            foreach (long count in counts) text.Append($"{count,9}");
        }
        return text.ToString();
    }
}
