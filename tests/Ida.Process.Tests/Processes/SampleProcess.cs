using System.Collections.Concurrent;
using System.Diagnostics;
using SystemProcess = System.Diagnostics.Process;

namespace Ida.Process.Tests.Processes;

/// <summary>A sample, started as a process of its own; killed with all its children when the test is over, whatever happened.</summary>
internal sealed class SampleProcess : IAsyncDisposable
{
    private readonly SystemProcess _process;
    private readonly ConcurrentQueue<string> _output = new();
    private readonly ConcurrentQueue<string> _errors = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource<string>> _awaited = new();

    private SampleProcess(SystemProcess process)
    {
        _process = process;
        process.OutputDataReceived += (_, line) => Take(line.Data, _output);
        process.ErrorDataReceived += (_, line) => Take(line.Data, _errors);
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public int Id => _process.Id;

    public string Output => string.Join('\n', _output);

    public IReadOnlyList<string> ErrorLines => [.. _errors];

    /// <summary>Starts a sample by its name; its program lies beside the tests. Signals have their default effect, even if the shell's job ignores them.</summary>
    public static SampleProcess Start(string sample, params string[] arguments) => Start([], sample, arguments);

    /// <summary>The same, as the leader of a process group of its own, to which its children belong.</summary>
    public static SampleProcess StartGroup(string sample, params string[] arguments) => Start(["setsid"], sample, arguments);

    private static SampleProcess Start(string[] through, string sample, string[] arguments)
    {
        var start = new ProcessStartInfo("/usr/bin/env") { RedirectStandardOutput = true, RedirectStandardError = true, RedirectStandardInput = true };
        start.ArgumentList.Add("--default-signal=SIGINT");
        foreach (string word in through) start.ArgumentList.Add(word);
        start.ArgumentList.Add(Path.Combine(AppContext.BaseDirectory, sample));
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        return new(SystemProcess.Start(start)!);
    }

    /// <summary>Runs a sample to its end, for at most three minutes.</summary>
    public static Task<(int ExitCode, string Output, IReadOnlyList<string> Errors)> RunAsync(string sample, params string[] arguments) =>
        RunAsync(Start(sample, arguments));

    /// <summary>The same, with an environment variable, "NAME=value".</summary>
    public static Task<(int ExitCode, string Output, IReadOnlyList<string> Errors)> RunWithAsync(string variable, string sample, params string[] arguments) =>
        RunAsync(Start([variable], sample, arguments));

    /// <summary>The first line of output that contains a text, as soon as it comes.</summary>
    public async Task<string> LineAsync(string containing, TimeSpan limit)
    {
        var awaited = _awaited.GetOrAdd(containing, _ => new(TaskCreationOptions.RunContinuationsAsynchronously));
        if (_output.FirstOrDefault(l => l.Contains(containing, StringComparison.Ordinal)) is { } line) awaited.TrySetResult(line);
        try
        {
            return await awaited.Task.WaitAsync(limit);
        }
        catch (TimeoutException)
        {
            throw new TimeoutException($"No line with \"{containing}\" within {limit.TotalSeconds:0} s. Output:\n{Output}\n{string.Join('\n', ErrorLines)}");
        }
    }

    public void Say(string line) => _process.StandardInput.WriteLine(line);

    public async Task<int> ExitAsync(TimeSpan limit)
    {
        using var bound = new CancellationTokenSource(limit);
        await _process.WaitForExitAsync(bound.Token);
        return _process.ExitCode;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited) _process.Kill(entireProcessTree: true);
        await ExitAsync(TimeSpan.FromSeconds(60));
        _process.Dispose();
    }

    private static async Task<(int ExitCode, string Output, IReadOnlyList<string> Errors)> RunAsync(SampleProcess started)
    {
        await using var process = started;
        int exitCode = await process.ExitAsync(TimeSpan.FromMinutes(3));
        return (exitCode, process.Output, process.ErrorLines);
    }

    private void Take(string? line, ConcurrentQueue<string> into)
    {
        if (line is null) return;
        into.Enqueue(line);
        foreach (var (text, awaited) in _awaited)
            if (line.Contains(text, StringComparison.Ordinal)) awaited.TrySetResult(line);
    }
}
