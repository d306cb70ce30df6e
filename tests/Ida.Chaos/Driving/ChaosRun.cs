using System.Diagnostics;
using System.Globalization;
using Ida.Chaos.Judging;
using Ida.Chaos.Members;
using Ida.Testing;
using Ida.Testing.Checking;

namespace Ida.Chaos.Driving;

/// <summary>One run: processes up, clients at work, faults, rest, final states, verdict.</summary>
internal static class ChaosRun
{
    private const long MostHeap = 512L << 20;
    private static readonly TimeSpan s_rest = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan s_final = TimeSpan.FromSeconds(120);
    private static readonly TimeSpan s_end = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_calm = TimeSpan.FromSeconds(3);

    public static async Task<bool> RunAsync(ChaosOptions options, CancellationToken cancel)
    {
        var folder = Directory.CreateTempSubdirectory("ida-chaos-");
        var findings = new Findings();
        using var unobserved = new UnobservedErrors();
        try
        {
            bool passed = await RunAsync(options, folder.FullName, findings, cancel);
            string? driver = unobserved.Collect();
            if (driver is not null) Console.WriteLine($"FAILED: in the driver {driver}");
            passed &= driver is null;
            Console.WriteLine(passed ? "PASSED" : "FAILED");
            return passed;
        }
        catch (ChaosFailedException failed)
        {
            foreach (string wrong in findings.Wrong) Console.WriteLine($"FAILED: {wrong}");
            Console.WriteLine($"FAILED: {failed.Message}");
            return false;
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static async Task<bool> RunAsync(ChaosOptions options, string folder, Findings findings, CancellationToken cancel)
    {
        Console.WriteLine($"{options.Members} processes, {options.Shards} shards of {options.ShardSize}, {options.Clients} clients each, {options.Seconds} s of {string.Join(", ", options.Faults).ToLowerInvariant()}, none longer than {options.Longest.TotalSeconds} s, seed {options.Seed}");
        var watch = Stopwatch.StartNew();
        string faults = Path.Combine(folder, "faults.jsonl");
        var processes = new List<int>();
        bool passed;
        await using (var stream = new FileStream(faults, FileMode.CreateNew, FileAccess.Write, FileShare.Read, bufferSize: 0))
        using (var roster = new Roster(options, folder, findings))
        {
            var recorder = new HistoryRecorder(stream, prefix: "faults-");
            var nemesis = new Nemesis(options, roster, recorder, new(options.Seed), what =>
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{watch.Elapsed.TotalSeconds,8:F1} s  {what}")));
            for (int i = 0; i < options.Members; i++) roster.Start();
            await nemesis.WholeAsync(cancel);
            await Task.Delay(s_calm, cancel);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{watch.Elapsed.TotalSeconds,8:F1} s        all up, {roster.Running.Sum(one => one.Resident()) >> 20} MiB resident in all"));
            await nemesis.RunAsync(TimeSpan.FromSeconds(options.Seconds), cancel);
            await Task.Delay(s_calm, cancel);
            nemesis.CheckEnds();
            await Task.WhenAll(roster.Running.Select(one => one.AskAsync(MemberCommands.Rest, s_rest)));
            // Once more: writes whose outcome the last clients could not find out are with other members now.
            await Task.WhenAll(roster.Running.Select(one => one.AskAsync(MemberCommands.Rest, s_rest)));
            await nemesis.WholeAsync(cancel);
            var finals = await Task.WhenAll(roster.Running.Select(one => one.AskAsync(MemberCommands.Final, s_final)));
            passed = Report(options, nemesis, roster, finals);
            processes.AddRange(roster.Running.Select(one => one.Id));
            roster.Histories.Add(faults);
            await stream.FlushAsync(cancel);
            foreach (var one in roster.Running) one.Kill();
            await Task.WhenAll(roster.Running.Select(static one => one.WaitForExitAsync(s_end, "killed")));
            nemesis.CheckEnds();
            var history = History.ReadFiles(roster.Histories.Where(File.Exists));
            if (options.History is { } file)
            {
                await using var writer = new StreamWriter(file);
                history.Write(writer);
            }
            passed &= Judge(history);
        }
        int left = processes.Count(id => Directory.Exists($"/proc/{id}"));
        Console.WriteLine($"processes left over: {left}");
        foreach (string wrong in findings.Wrong) Console.WriteLine($"FAILED: {wrong}");
        return passed && left == 0 && findings.Wrong.Count == 0;
    }

    private static bool Report(ChaosOptions options, Nemesis nemesis, Roster roster, MemberStatus[] finals)
    {
        long heap = finals.Max(static one => one.Heap);
        int initialised = finals.Count(static one => one.Initialised);
        Console.WriteLine($"{nemesis.Count} faults, {nemesis.Blinks.Judged} of them blinks that nobody noticed, {nemesis.Blinks.Unjudged} blinks that could not be judged; {initialised} initialised replicas; live heap at most {heap >> 20} MiB a member, resident {roster.Running.Max(one => one.Resident()) >> 20} MiB");
        roster.Findings.Calls().Print(Console.Out);
        var unmet = roster.Findings.Unmet(nemesis.Made);
        if (nemesis.Count == 0) Console.WriteLine("FAILED: no fault was made");
        if (unmet.Count > 0) Console.WriteLine($"FAILED: no call was open when a fault began: {string.Join(", ", unmet)}");
        if (nemesis.Blinks.ShowNothing) Console.WriteLine("FAILED: no more blinks were judged than could not be");
        if (initialised < options.TargetSize) Console.WriteLine($"FAILED: {options.TargetSize} initialised replicas or more are wanted at the end");
        if (heap > MostHeap) Console.WriteLine($"FAILED: a member holds more than {MostHeap >> 20} MiB at rest");
        return initialised >= options.TargetSize && heap <= MostHeap && nemesis.Count > 0 && unmet.Count == 0 && !nemesis.Blinks.ShowNothing;
    }

    private static bool Judge(History history)
    {
        var report = StrictSerializabilityChecker.Check(history);
        Console.WriteLine(report);
        var availability = Availability.Of(history);
        foreach (string line in availability.Lines()) Console.WriteLine(line);
        string? slow = availability.Wrong();
        if (slow is not null) Console.WriteLine($"FAILED: {slow}");
        return report.Passed && slow is null;
    }
}
