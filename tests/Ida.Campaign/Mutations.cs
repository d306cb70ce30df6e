namespace Ida.Campaign;

/// <summary>
/// Leaves out one rule after the other, and looks for the first seed whose checkers notice exactly the effect of its absence. A rule whose absence goes unnoticed is a failure
/// of the checkers or of the schedules.
/// </summary>
internal sealed class Mutations(CampaignOptions options)
{
    private const int OthersShown = 3;

    public (long Passed, long Failed) Run(CancellationToken cancel)
    {
        int found = 0, missed = 0;
        foreach (var rule in options.Mutated)
        {
            if (cancel.IsCancellationRequested) break;
            if (Find(MutationTable.Of(options.Suite, rule), cancel)) found++;
            else missed++;
        }
        return (found, missed);
    }

    private bool Find(Control control, CancellationToken cancel)
    {
        var scenario = options.Only ?? control.Likely;
        SortedDictionary<ulong, string> found = [], others = [];
        var broken = new SortedSet<ulong>();
        int tried = 0;
        Seeds.Run(options.First, options.Count, seed =>
        {
            Interlocked.Increment(ref tried);
            if (scenario.Judge(seed, control.Rule) is not { } failure) return true;
            string? line = control.LineOf(failure.Message);
            // A seed that also fails with all rules shows a bug, and nothing about this rule.
            bool telling = line is not null && scenario.Judge(seed) is null;
            lock (found)
            {
                if (telling) found.Add(seed, line!);
                else if (line is not null) broken.Add(seed);
                else others.Add(seed, failure.Message.Split('\n')[0].Trim());
            }
            return !telling;
        }, cancel);
        string name = $"{control.Rule}: ";
        Console.WriteLine(found.Count == 0
            ? $"{name}no '{control.Anomaly.Trim()}' in {tried} schedules of {scenario}"
            : $"{name}seed {found.First().Key} after {tried} schedules of {scenario}: {found.First().Value}");
        foreach (var (seed, text) in others.Take(OthersShown)) Console.WriteLine($"{name}not counted: seed {seed}: {text}");
        if (others.Count > OthersShown) Console.WriteLine($"{name}not counted: {others.Count - OthersShown} more");
        if (broken.Count > 0) Console.WriteLine($"{name}{scenario} fails with all rules for seed {string.Join(", ", broken)}");
        return found.Count > 0 && broken.Count == 0;
    }
}
