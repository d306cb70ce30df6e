namespace Ida.Coordination;

/// <summary>Ranks to which a message goes. Its memory is used again and again.</summary>
internal sealed class RankList
{
    private int[] _ranks = new int[16];
    private int _count;

    public Span<int> Span => _ranks.AsSpan(0, _count);

    public void Clear() => _count = 0;

    public void Add(int rank)
    {
        if (_count == _ranks.Length) Array.Resize(ref _ranks, _count * 2);
        _ranks[_count++] = rank;
    }
}
