using GroupCore.Hosting;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// Batches of hostile frames against a system of real nodes, which is checked after each; a batch that fails is made as small as it can be
/// and reported as text for the corpus.
/// </summary>
internal sealed class FrameFuzz(SocketPortKind port, ulong seed, Action<string> tell, FrameTally? tally = null, bool secure = false)
{
    private const int MostTrials = 60, MostFailures = 3;
    private readonly FlatMemory _memory = new();
    private readonly IReadOnlyDictionary<FrameType, IReadOnlyList<FrameSample>> _samples = FrameRecorder.Record();
    private FrameVictims? _system;
    private long _refused;

    public FrameTally Tally { get; } = tally ?? new();

    /// <summary>What was measured.</summary>
    public string Memory => $"{_memory}; {_refused} frames refused";

    /// <summary>Batches that passed and that failed.</summary>
    public (long Passed, long Failed) Done { get; private set; }

    /// <summary>Smallest failing frames, as corpus text.</summary>
    public List<string> Failures { get; } = [];

    /// <summary>Goes on until the tally says <paramref name="frames"/>, in batches of <paramref name="each"/>.</summary>
    public async Task RunAsync(long frames, int each, bool shrink, CancellationToken cancel = default)
    {
        for (long index = 0; Tally.Count < frames && Done.Failed < MostFailures && !cancel.IsCancellationRequested; index++)
        {
            var batch = FrameBatch.Of(seed, index, (int)Math.Min(each, frames - Tally.Count));
            _system ??= await FrameVictims.StartAsync(port, secure: secure);
            string? failure = await JudgeAsync(batch, batch.Send(_system, _samples, null, (frame, _) => Tally.Add(frame)), _system) ?? _memory.Grown();
            if (failure is null)
            {
                Done = (Done.Passed + 1, Done.Failed);
                if (batch.Persona == Persona.Registering) await RestartAsync();
                continue;
            }
            Done = (Done.Passed, Done.Failed + 1);
            tell($"batch {index} of seed {seed}: {failure}");
            await RestartAsync();
            Failures.Add(shrink ? await ShrinkAsync(batch, failure) : $"# {failure}\n# {batch}");
        }
        if (_system is not null) await RestartAsync();
    }

    // A process of the system can do more than a stranger: it may have members excluded, but must not make a turn throw.
    private static async Task<string?> JudgeAsync(FrameBatch batch, string? sent, FrameVictims system)
    {
        if (batch.Persona == Persona.Registering) return system.Broken(mayBeExcluded: true);
        return sent is null ? await system.CheckAsync() : $"{sent}. {system.Broken()}";
    }

    private async Task RestartAsync()
    {
        _refused += _system!.Members.Sum(member => member.Refused);
        await _system.DisposeAsync();
        _system = null;
    }

    // Leaves out halves, then smaller parts, as long as the rest still fails.
    private async Task<string> ShrinkAsync(FrameBatch batch, string failure)
    {
        List<int> left = [.. Enumerable.Range(0, batch.Count)];
        int trials = 0;
        if (await TryAsync(batch, left) is not { } text) return $"# {failure}\n# not by {batch} alone";
        for (int part = left.Count / 2; part > 0 && trials < MostTrials; part /= 2)
        {
            for (int at = 0; at < left.Count && trials < MostTrials;)
            {
                List<int> less = [.. left[..at], .. left[Math.Min(left.Count, at + part)..]];
                trials++;
                if (less.Count > 0 && await TryAsync(batch, less) is { } smaller) (left, text) = (less, smaller);
                else at += part;
            }
        }
        tell($"{left.Count} frames are enough, {trials} trials");
        return text;
    }

    private async Task<string?> TryAsync(FrameBatch batch, List<int> chosen)
    {
        await using var system = await FrameVictims.StartAsync(port, secure: secure);
        var lines = new List<string>();
        bool tells = chosen.Count <= 1_000;
        string? sent = batch.Send(system, _samples, chosen.ToHashSet(), (frame, context) =>
        {
            if (tells) lines.Add(FrameCorpus.Line(frame, context));
        });
        string? failure = await JudgeAsync(batch, sent, system);
        return failure is null ? null : FrameCorpus.Write(failure, batch, lines);
    }
}
