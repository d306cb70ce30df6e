using System.Globalization;

namespace Ida.Scenarios;

/// <summary>How many seeds drew each ingredient, of the seeds of the scenarios that can draw it.</summary>
internal sealed class IngredientTable
{
    private const long LeastPercent = 1;

    // With some hundred ingredients, each of exactly that share, and some campaigns a day, one is reported wrongly in decades.
    private const double ByChance = 1e-6;
    private readonly SortedDictionary<string, Row> _rows = new(StringComparer.Ordinal);

    /// <summary>
    /// Ingredients that too few seeds drew: a defect of the schedule. Too few means that an ingredient drawn by 1 % of all seeds would be drawn as seldom with a
    /// probability of less than 10⁻⁶: by none of 1,375 seeds, 2 of 2,000, 55 of 10,000.
    /// </summary>
    public IEnumerable<string> Rare => _rows.Where(static pair => pair.Value.IsRare).Select(static pair => pair.Key);

    /// <summary>Those that more seeds drew than <see cref="Scenario.Seldom"/> allows, in the sense of <see cref="LostShare"/>.</summary>
    public IEnumerable<string> TooOften => _rows.Where(static pair => pair.Value.IsTooOften).Select(static pair => pair.Key);

    public void Add(Scenario scenario, ScenarioRun run)
    {
        foreach (string name in scenario.Ingredients) Add(name, null, run);
        foreach (var (name, most) in scenario.Seldom) Add(name, most, run);
    }

    private void Add(string name, double? most, ScenarioRun run)
    {
        if (!_rows.TryGetValue(name, out var row)) _rows.Add(name, row = new() { Most = most });
        row.Seeds++;
        if (!run.Ingredients.Drawn.TryGetValue(name, out long times)) return;
        row.Drawn++;
        row.Times += times;
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

        public double? Most { get; init; }

        public bool IsTooOften => LostShare.IsTooLarge(Drawn, Seeds, Most);

        public bool IsRare => Most is null && Drawn * 100 < Seeds * LeastPercent && BinomialTail.AtMost(Drawn, Seeds, LeastPercent / 100.0) < ByChance;

        public override string ToString() =>
            string.Create(CultureInfo.InvariantCulture, $"{Drawn * 100.0 / Seeds,6:F1} % of {Seeds,7} {Times,9}{(IsRare ? $"  BELOW {LeastPercent} %:" : IsTooOften ? $"  ABOVE {Most * 100} %:" : "")}");
    }
}
