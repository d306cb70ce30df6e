using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;
using Ida.Perf.Macro.Reporting;

namespace Ida.Perf.Macro.Driving;

/// <summary>The memory that entries cost: resident memory of all members with all entries, and with a thousand, each after a full collection.</summary>
internal sealed class MemoryRun(RunOptions options, Cluster cluster, Report report) : Run(options, cluster, report)
{
    private const int First = 1000;

    public override string Execute()
    {
        Form();
        long few = Hold(First), filled = Hold(Options.Keyspace);
        double each = (filled - few) / (double)(Options.Keyspace - First);
        Report.Set("resident_mb_few", few / 1e6);
        Report.Set("resident_mb", filled / 1e6);
        Report.Set("bytes_per_entry", each);
        return $"# memory ida {Options.Keyspace} entries of {Options.Value} B, {Options.Backups + 1} copies: {each:0} B resident per entry, all copies together";
    }

    private long Hold(int entries)
    {
        Cluster.All($"HOLD {Options.Members} {entries}", 120);
        Cluster.All("COLLECT", 60);
        return Cluster.Members.Sum(member => MemoryUse.ResidentBytes(member.Id));
    }
}
