using System.Diagnostics;
using System.Globalization;
using GroupCore.Hosting;
using Ida.Scenarios;

namespace Ida.Campaign;

/// <summary>The options of a run of hostile frames, checked.</summary>
internal sealed record FrameCampaign(ulong Seed, long Frames, IReadOnlyList<SocketPortKind> Ports, bool FromMember, bool IsSecure, string? Corpus)
{
    public const string Suite = "frames";
    private const long DefaultFrames = 100_000, MostFrames = 1_000_000_000;
    private const int MostSeconds = 1_000_000;
    private const int Batch = 20_000, MemberBatch = 1_000;

    /// <summary>The time after which no further batch is begun, shared equally by the ports; null for no limit.</summary>
    public TimeSpan? Time { get; init; }

    public static bool TryParse(string? seed, string? frames, string? seconds, string? port, string? from, string? security, string? corpus, out FrameCampaign campaign, out string error)
    {
        (campaign, error) = (null!, "");
        ulong first = 1;
        int time = 0;
        long count = seconds is null ? DefaultFrames : MostFrames;
        if (seed is not null && !ulong.TryParse(seed, NumberStyles.None, CultureInfo.InvariantCulture, out first))
            error = $"--seed must be a whole number from 0 to {ulong.MaxValue}, not \"{seed}\".";
        if (frames is not null && (!long.TryParse(frames, NumberStyles.None, CultureInfo.InvariantCulture, out count) || count is < 1 or > MostFrames))
            error = $"--frames must be a whole number from 1 to {MostFrames}, not \"{frames}\".";
        if (seconds is not null && (!int.TryParse(seconds, NumberStyles.None, CultureInfo.InvariantCulture, out time) || time is < 1 or > MostSeconds))
            error = $"--seconds must be a whole number from 1 to {MostSeconds}, not \"{seconds}\".";
        IReadOnlyList<SocketPortKind> all = OperatingSystem.IsLinux() ? [SocketPortKind.Epoll, SocketPortKind.Completion] : [SocketPortKind.Completion];
        var ports = port is null ? all : [.. all.Where(kind => kind.ToString().Equals(port, StringComparison.OrdinalIgnoreCase))];
        if (ports.Count == 0) error = $"--port must be one of {string.Join(", ", all).ToLowerInvariant()}, not \"{port}\".";
        if (from is not (null or "strangers" or "member")) error = $"--from must be strangers or member, not \"{from}\".";
        if (security is not (null or "none" or "key")) error = $"--security must be none or key, not \"{security}\".";
        campaign = new(first, count, ports, from == "member", security == "key", corpus) { Time = seconds is null ? null : TimeSpan.FromSeconds(time) };
        return error.Length == 0;
    }

    /// <summary>The number of frames for each port: equal shares, rounded up, so that no port is left out.</summary>
    public long Share => (Frames + Ports.Count - 1) / Ports.Count;

    /// <summary>Runs the frames, an equal share through each port. Returns the numbers of batches that passed and failed.</summary>
    public async Task<(long Passed, long Failed)> RunAsync(CancellationToken cancel)
    {
        var tally = new FrameTally();
        long passed = 0, failed = 0;
        foreach (var port in Ports)
        {
            var watch = Stopwatch.StartNew();
            using var end = CancellationTokenSource.CreateLinkedTokenSource(cancel);
            if (Time is { } time) end.CancelAfter(time / Ports.Count);
            long until = tally.Count + Share;
            var (done, memory, failures) = FromMember ? await FromMemberAsync(port, until, tally, end.Token) : await FromStrangersAsync(port, until, tally, end.Token);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{port}: {done.Passed} batches passed, {done.Failed} failed, {watch.Elapsed.TotalSeconds:F0} s; {memory}"));
            (passed, failed) = (passed + done.Passed, failed + done.Failed);
            for (int i = 0; i < failures.Count; i++) Keep(failures[i], $"{port}-{Seed}-{i}.frames".ToLowerInvariant());
        }
        Console.WriteLine(tally);
        return (passed, failed);
    }

    private async Task<((long Passed, long Failed) Done, string Memory, IReadOnlyList<string> Failures)> FromStrangersAsync(SocketPortKind port, long until, FrameTally tally, CancellationToken cancel)
    {
        var fuzz = new FrameFuzz(port, Seed, Console.WriteLine, tally, IsSecure);
        await fuzz.RunAsync(until, Batch, shrink: true, cancel);
        return (fuzz.Done, fuzz.Memory, fuzz.Failures);
    }

    private async Task<((long Passed, long Failed) Done, string Memory, IReadOnlyList<string> Failures)> FromMemberAsync(SocketPortKind port, long until, FrameTally tally, CancellationToken cancel)
    {
        var fuzz = new MemberFuzz(port, Seed, Console.WriteLine, tally, IsSecure);
        await fuzz.RunAsync(until, MemberBatch, cancel);
        return (fuzz.Done, fuzz.Memory, fuzz.Failures);
    }

    private void Keep(string failure, string file)
    {
        Console.WriteLine(failure);
        if (Corpus is null || FromMember) return;
        Directory.CreateDirectory(Corpus);
        File.WriteAllText(Path.Combine(Corpus, file), failure + "\n");
    }
}
