namespace Ida.Scenarios;

/// <summary>
/// What a run drew of what its scenario can draw, by name: a call, an option, a misuse, a fault at a certain moment. What a schedule never
/// draws it cannot judge, so a campaign prints how many seeds drew each. Names are declared by the scenario, so that zero shows too.
/// </summary>
internal sealed class Ingredients(IReadOnlyList<string> declared)
{
    private readonly SortedDictionary<string, long> _drawn = new(StringComparer.Ordinal);

    /// <summary>Each that was drawn, with how often.</summary>
    public IReadOnlyDictionary<string, long> Drawn => _drawn;

    /// <summary>Whether the scenario declares it. An ingredient that waits for a fix is left out of the declaration, so the schedule asks before it draws.</summary>
    public bool Allows(string name) => declared.Contains(name);

    /// <summary>To be called where the thing is done, not where the random numbers would allow it.</summary>
    public void Draw(string name)
    {
        if (!Allows(name)) throw new InvalidOperationException($"\"{name}\" is no ingredient that the scenario declares.");
        _drawn[name] = _drawn.GetValueOrDefault(name) + 1;
    }
}
