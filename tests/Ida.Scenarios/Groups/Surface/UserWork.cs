namespace Ida.Scenarios;

/// <summary>For how long user code has been at work, at the most: pieces that were at work at the same time are added up.</summary>
internal sealed class UserWork
{
    private readonly List<(TimeSpan Begun, TimeSpan Length)> _pieces = [];

    public void Add(TimeSpan begun, TimeSpan length) => _pieces.Add((begun, length));

    /// <summary>The same between two moments, without pieces that never end by themselves.</summary>
    public TimeSpan Between(TimeSpan from, TimeSpan now) => _pieces.Where(piece => piece.Length != TimeSpan.MaxValue && piece.Begun < now && piece.Begun + piece.Length > from)
        .Aggregate(TimeSpan.Zero, (sum, piece) => sum + (piece.Begun + piece.Length < now ? piece.Begun + piece.Length : now) - (piece.Begun > from ? piece.Begun : from));

    public TimeSpan Until(TimeSpan now) => _pieces.Where(piece => piece.Begun < now).Aggregate(TimeSpan.Zero, (sum, piece) => sum + (now - piece.Begun < piece.Length ? now - piece.Begun : piece.Length));
}
