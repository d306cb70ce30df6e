using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Ida.Chaos.Members;

namespace Ida.Chaos.Driving;

/// <summary>One life of one member process, as the driver sees it.</summary>
internal sealed partial class MemberProcess : IDisposable
{
    private const int Stop = 19, Continue = 18;

    /// <summary>The exit code of a process that SIGKILL ended.</summary>
    private const int KilledCode = 128 + 9;

    /// <summary>What the runtime writes about an unhandled exception before it ends the process.</summary>
    private const string Unhandled = "Unhandled exception.";
    private static readonly TimeSpan s_output = TimeSpan.FromSeconds(5), s_fresh = TimeSpan.FromSeconds(1);
    private readonly Process _process;
    private readonly LastWords _words = new();

    /// <summary>Guards the writer to the process's input: the nemesis, and a hand-over of a write, may write at once.</summary>
    private readonly Lock _telling = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource<MemberStatus>> _asked = new();
    private long _heardAt;
    private volatile bool _killed, _unhandled;

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

    /// <summary>Whether the process has spoken within the last second; one that is stopped has not.</summary>
    public bool IsHeard => Stopwatch.GetElapsedTime(Volatile.Read(ref _heardAt)) < s_fresh;

    /// <summary>Whether the process has spoken within the last second, and its DHT has answered it within that time.</summary>
    public bool IsFresh => IsHeard && Status.IsAnswered;

    public bool HasExited => _process.HasExited;

    /// <summary>Called with each line in which the member asks that another one find out what became of a write.</summary>
    public Action<MemberProcess, string>? Unresolved { get; set; }

    /// <summary>Called with everything that the member says of itself.</summary>
    public Action<MemberProcess, MemberStatus>? Said { get; set; }

    /// <summary>Whether the driver told the process to end, or killed it: it takes on no more writes then.</summary>
    public bool MayEnd { get; set; }

    /// <summary>How the process ended: 0 if it ended as told, 128 plus the number of the signal that ended it, any other code for a fault of its own; null while it runs.</summary>
    public int? ExitCode => _process.HasExited ? _process.ExitCode : null;

    /// <summary>
    /// Whether the process ended of its own accord, or was about to, before the driver killed it or told it to end, even if the driver noticed only after the kill.
    /// A process that was told to leave is judged by its <see cref="ExitCode"/>.
    /// </summary>
    public bool EndedOnItsOwn => ExitCode is { } code && (_killed ? code != KilledCode || _unhandled : !MayEnd);

    /// <summary>How the process ended, if it has, and what it wrote last. After the end this waits, for seconds at most, until all output is here.</summary>
    public string LastWords
    {
        get
        {
            if (!HasExited) return _words.ToString();
            _ = _process.WaitForExitAsync().Wait(s_output);
            return $"exit code {_process.ExitCode} {_words}";
        }
    }

    /// <summary>To be called by the <see cref="Starter"/>'s thread: the member ends when that thread does.</summary>
    public static MemberProcess Start(MemberPlace place)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!);
        // If the driver was started as `dotnet Ida.Chaos.dll`, its executable is dotnet, which wants the assembly first.
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet") start.ArgumentList.Add(typeof(MemberProcess).Assembly.Location);
        start.ArgumentList.Add(Program.MemberCommand);
        foreach (string word in place.Words) start.ArgumentList.Add(word);
        return Start(place, start);
    }

    /// <summary>Starts a program of the caller's choice as the member.</summary>
    public static MemberProcess Start(MemberPlace place, ProcessStartInfo start)
    {
        start.RedirectStandardInput = start.RedirectStandardOutput = start.RedirectStandardError = true;
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
            await Task.WhenAny(answer.Task, _process.WaitForExitAsync()).WaitAsync(limit);
            if (answer.Task.IsCompleted) return await answer.Task;
            throw new ChaosFailedException($"{Name} ended on its own, asked for '{command}'. Its last words: {LastWords}");
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
            lock (_telling)
            {
                _process.StandardInput.WriteLine(command);
                _process.StandardInput.Flush();
            }
        }
        catch (IOException)
        {
            // It is gone.
        }
    }

    public void Kill()
    {
        try
        {
            if (_process.HasExited) return;
            _killed = MayEnd = true;
            _process.Kill();
        }
        catch (InvalidOperationException)
        {
            // It ended before.
        }
    }

    public void Suspend() => Send(Stop);

    public void Resume() => Send(Continue);

    /// <summary>Waits until the process has ended and everything that it wrote is here.</summary>
    /// <param name="limit">How long to wait.</param>
    /// <param name="since">What should have ended it, for the report that it hangs.</param>
    public async Task WaitForExitAsync(TimeSpan limit, string since)
    {
        try
        {
            await _process.WaitForExitAsync().WaitAsync(limit);
        }
        catch (TimeoutException)
        {
            throw new ChaosFailedException($"{Name} hangs: it was {since} {limit.TotalSeconds:F0} s ago. Its last words: {LastWords}");
        }
    }

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
        Said?.Invoke(this, status);
        if (status.Answer.Length == 0)
        {
            Status = status;
            Volatile.Write(ref _heardAt, Stopwatch.GetTimestamp());
        }
        else if (_asked.TryRemove(status.Answer, out var asked)) asked.TrySetResult(status);
    }

    // A process that no longer exists has ended on its own: CheckEnds finds that.
    private void Send(int signal)
    {
        if (Signal(_process.Id, signal) != 0 && !_process.HasExited) throw new ChaosFailedException($"{Name} could not be sent signal {signal}: error {Marshal.GetLastPInvokeError()}.");
    }

    private void Remember(string? line)
    {
        if (line is null) return;
        if (line.StartsWith(Unhandled, StringComparison.Ordinal)) _unhandled = true;
        _words.Add(line);
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int Signal(int process, int signal);
}
