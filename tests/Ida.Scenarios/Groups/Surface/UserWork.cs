namespace Ida.Scenarios;

/// <summary>For how long user code has been at work, at the most: pieces that were at work at once count each.</summary>
internal sealed class UserWork
{
    private readonly List<(TimeSpan Begun, TimeSpan Length)> _pieces = [];

    public void Add(TimeSpan begun, TimeSpan length) => _pieces.Add((begun, length));

    public TimeSpan Until(TimeSpan now) => _pieces.Where(piece => piece.Begun < now).Aggregate(TimeSpan.Zero, (sum, piece) => sum + (now - piece.Begun < piece.Length ? now - piece.Begun : piece.Length));
}
