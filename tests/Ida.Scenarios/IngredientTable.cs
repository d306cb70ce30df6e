using System.Globalization;

namespace Ida.Scenarios;

/// <summary>How many seeds drew each ingredient, of the seeds of the scenarios that can draw it.</summary>
internal sealed class IngredientTable
{
    // Below that many seeds a share says little.
    private const long SeedsToJudge = 1_000, LeastPercent = 1;
    private readonly SortedDictionary<string, Row> _rows = new(StringComparer.Ordinal);

    /// <summary>Ingredients that too few seeds drew: a defect of the schedule.</summary>
    public IEnumerable<string> Rare => _rows.Where(static pair => pair.Value.IsRare).Select(static pair => pair.Key);

    public void Add(Scenario scenario, ScenarioRun run)
    {
        foreach (string name in scenario.Ingredients)
        {
            if (!_rows.TryGetValue(name, out var row)) _rows.Add(name, row = new());
            row.Seeds++;
            if (!run.Ingredients.Drawn.TryGetValue(name, out long times)) continue;
            row.Drawn++;
            row.Times += times;
        }
    }

    public void Print(TextWriter to)
    {
        if (_rows.Count == 0) return;
        to.WriteLine("Ingredients: share of the seeds that can draw it, times drawn");
        foreach (var (name, row) in _rows) to.WriteLine($"  {row}  {name}");
    }

    private sealed class Row
    {
        public long Seeds, Drawn, Times;

        public bool IsRare => Seeds >= SeedsToJudge && Drawn * 100 < Seeds * LeastPercent;

        public override string ToString() =>
            string.Create(CultureInfo.InvariantCulture, $"{Drawn * 100.0 / Seeds,6:F1} % of {Seeds,7} {Times,9}{(IsRare ? $"  BELOW {LeastPercent} %:" : "")}");
    }
}
