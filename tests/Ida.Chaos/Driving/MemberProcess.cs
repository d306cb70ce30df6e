using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Ida.Chaos.Members;

namespace Ida.Chaos.Driving;

/// <summary>One life of one member process, as the driver sees it.</summary>
internal sealed partial class MemberProcess : IDisposable
{
    private const int TailLines = 60;
    private const int Stop = 19, Continue = 18;
    private readonly Process _process;
    private readonly ConcurrentQueue<string> _tail = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource<MemberStatus>> _asked = new();
    private long _heardAt;

    private MemberProcess(MemberPlace place, Process process)
    {
        (Place, _process) = (place, process);
        process.OutputDataReceived += (_, line) => Hear(line.Data);
        process.ErrorDataReceived += (_, line) => Remember(line.Data);
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public MemberPlace Place { get; }

    public string Name => Place.Name;

    public int Id => _process.Id;

    /// <summary>What it said last.</summary>
    public MemberStatus Status { get; private set; } = new();

    /// <summary>Whether it has spoken within the last second: a stopped process has not.</summary>
    public bool IsFresh => Stopwatch.GetElapsedTime(Volatile.Read(ref _heardAt)) < TimeSpan.FromSeconds(1);

    public bool HasExited => _process.HasExited;

    /// <summary>Told of each line in which the member asks for another to find out what became of a write.</summary>
    public Action<MemberProcess, string>? Unresolved { get; set; }

    /// <summary>Whether the driver ended it, so that its end is no surprise.</summary>
    public bool MayEnd { get; set; }

    public string LastWords => $"{(HasExited ? $"exit code {_process.ExitCode} " : "")}{string.Join(" | ", _tail)}";

    /// <summary>Called by the <see cref="Starter"/>'s thread: the member ends when that thread does.</summary>
    public static MemberProcess Start(MemberPlace place)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!) { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };
        // Started as `dotnet Ida.Chaos.dll`, the process is dotnet and wants the assembly first.
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet") start.ArgumentList.Add(typeof(MemberProcess).Assembly.Location);
        start.ArgumentList.Add(Program.MemberCommand);
        foreach (string word in place.Words) start.ArgumentList.Add(word);
        return new(place, Process.Start(start)!);
    }

    /// <summary>Gives a command and waits for its answer.</summary>
    public async Task<MemberStatus> AskAsync(string command, TimeSpan limit)
    {
        var answer = new TaskCompletionSource<MemberStatus>(TaskCreationOptions.RunContinuationsAsynchronously);
        _asked[command] = answer;
        Tell(command);
        try
        {
            return await answer.Task.WaitAsync(limit);
        }
        catch (TimeoutException)
        {
            throw new ChaosFailedException($"{Name} hangs: no answer to '{command}' in {limit.TotalSeconds:F0} s. Its last words: {LastWords}");
        }
    }

    public void Tell(string command)
    {
        try
        {
            _process.StandardInput.WriteLine(command);
            _process.StandardInput.Flush();
        }
        catch (IOException)
        {
            // It is gone.
        }
    }

    public void Kill()
    {
        MayEnd = true;
        try
        {
            _process.Kill();
        }
        catch (InvalidOperationException)
        {
            // It ended before.
        }
    }

    public void Suspend() => _ = Signal(_process.Id, Stop);

    public void Resume() => _ = Signal(_process.Id, Continue);

    public Task WaitForExitAsync(TimeSpan limit) => _process.WaitForExitAsync().WaitAsync(limit);

    /// <summary>Resident bytes now; 0 when it is gone.</summary>
    public long Resident()
    {
        try
        {
            _process.Refresh();
            return _process.WorkingSet64;
        }
        catch (InvalidOperationException)
        {
            return 0;
        }
    }

    public void Dispose()
    {
        Kill();
        _process.WaitForExit(TimeSpan.FromSeconds(5));
        _process.Dispose();
    }

    private void Hear(string? line)
    {
        if (line is null) return;
        if (line.StartsWith(MemberCommands.Resolve, StringComparison.Ordinal))
        {
            Unresolved?.Invoke(this, line);
            return;
        }
        if (MemberStatus.FromLine(line) is not { } status)
        {
            Remember(line);
            return;
        }
        if (status.Answer.Length == 0)
        {
            Status = status;
            Volatile.Write(ref _heardAt, Stopwatch.GetTimestamp());
        }
        else if (_asked.TryRemove(status.Answer, out var asked)) asked.TrySetResult(status);
    }

    private void Remember(string? line)
    {
        if (line is null) return;
        _tail.Enqueue(line);
        while (_tail.Count > TailLines) _tail.TryDequeue(out _);
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int Signal(int process, int signal);
}
