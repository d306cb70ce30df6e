namespace Ida.Chaos.Driving;

/// <summary>
/// What a process wrote last, bounded in lines and in their length. A message of several lines, such as an exception with its stack, begins with a line
/// that is not indented: the beginning of the last such message is kept, however long the rest is.
/// </summary>
internal sealed class LastWords
{
    public const int MostLines = 40, HeadLines = 3, MostChars = 1_000;
    private readonly Lock _lock = new();
    private readonly List<string> _head = [];
    private readonly Queue<string> _tail = new();
    private int _ofLast;

    public void Add(string line)
    {
        lock (_lock)
        {
            bool begins = line.Length > 0 && !char.IsWhiteSpace(line[0]);
            if (begins)
            {
                _head.Clear();
                _ofLast = 0;
            }
            _ofLast++;
            string kept = line.Length <= MostChars ? line : line[..MostChars] + "…";
            if (_head.Count == _ofLast - 1 && _head.Count < HeadLines) _head.Add(kept);
            _tail.Enqueue(kept);
            if (_tail.Count > MostLines) _tail.Dequeue();
        }
    }

    public override string ToString()
    {
        lock (_lock)
        {
            // How many lines of the beginning are no longer in the tail.
            int lost = Math.Clamp(_ofLast - _tail.Count, 0, _head.Count);
            string rest = string.Join(" | ", _tail);
            return lost == 0 ? rest : $"{string.Join(" | ", _head.Take(lost))} | … | {rest}";
        }
    }
}
