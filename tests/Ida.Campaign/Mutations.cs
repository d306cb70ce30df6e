namespace Ida.Campaign;

/// <summary>Leaves out one rule after the other and looks for the first seed whose checkers notice: a rule that can go unnoticed is a failure of the checkers, or of the schedules.</summary>
internal sealed class Mutations(CampaignOptions options)
{
    public (long Passed, long Failed) Run(CancellationToken cancel)
    {
        int found = 0, missed = 0;
        foreach (var rule in options.Mutated)
        {
            if (cancel.IsCancellationRequested) break;
            if (Find(rule, cancel)) found++;
            else missed++;
        }
        return (found, missed);
    }

    private bool Find(string rule, CancellationToken cancel)
    {
        var scenario = options.Only ?? MutationTable.LikelyFor(options.Suite, rule);
        var found = new SortedDictionary<ulong, string>();
        var broken = new SortedSet<ulong>();
        int tried = 0;
        Seeds.Run(options.First, options.Count, seed =>
        {
            Interlocked.Increment(ref tried);
            if (scenario.Judge(seed, rule) is not { } violation) return true;
            // A seed that fails with all rules too shows a bug, and nothing about this rule.
            bool telling = scenario.Judge(seed) is null;
            lock (found)
            {
                if (telling) found.Add(seed, violation.Message.Split('\n')[0].Trim());
                else broken.Add(seed);
            }
            return !telling;
        }, cancel);
        Console.WriteLine(found.Count == 0
            ? $"{rule}: nothing in {tried} schedules of {scenario}"
            : $"{rule}: seed {found.First().Key} after {tried} schedules of {scenario}: {found.First().Value}");
        if (broken.Count > 0) Console.WriteLine($"{rule}: {scenario} fails with all rules for seed {string.Join(", ", broken)}");
        return found.Count > 0 && broken.Count == 0;
    }
}
