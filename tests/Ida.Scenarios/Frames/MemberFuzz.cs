using GroupCore.Hosting;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>Batches of frames of a member that lies, each against a system of its own.</summary>
internal sealed class MemberFuzz(SocketPortKind port, ulong seed, Action<string> tell, FrameTally? tally = null, bool secure = false)
{
    private const int MostFailures = 3;
    private readonly IReadOnlyDictionary<FrameType, IReadOnlyList<FrameSample>> _samples = FrameRecorder.Record();
    private readonly FlatMemory _memory = new();

    public FrameTally Tally { get; } = tally ?? new();

    /// <summary>What was measured.</summary>
    public string Memory => $"{_memory}; in {Stuck} batches the honest members did not go on before the liar was stopped, in {Excluding} some were excluded";

    /// <summary>Batches that passed and that failed.</summary>
    public (long Passed, long Failed) Done { get; private set; }

    /// <summary>Batches in which not all honest members went on before the liar was stopped.</summary>
    public int Stuck { get; private set; }

    /// <summary>Batches that cost an honest member its place.</summary>
    public int Excluding { get; private set; }

    public List<string> Failures { get; } = [];

    /// <summary>Goes on until the tally says <paramref name="frames"/>, or for as many batches as that takes if all frames are sent.</summary>
    public async Task RunAsync(long frames, int each, CancellationToken cancel = default)
    {
        long batches = (frames - Tally.Count + each - 1) / each;
        for (long index = 0; index < batches && Done.Failed < MostFailures && !cancel.IsCancellationRequested; index++)
        {
            var batch = MemberBatch.Of(seed, index, each);
            MemberResult result;
            await using (var system = await FrameVictims.StartAsync(port, lying: true, secure)) result = await batch.RunAsync(system, _samples, Tally);
            if (!result.Went) Stuck++;
            if (result.Excluded > 0) Excluding++;
            string? failure = result.Failure ?? _memory.Grown();
            Done = failure is null ? (Done.Passed + 1, Done.Failed) : (Done.Passed, Done.Failed + 1);
            if (failure is null) continue;
            tell($"batch {index} of seed {seed}: {failure}");
            Failures.Add($"# {failure}\n# {batch}");
        }
    }
}
