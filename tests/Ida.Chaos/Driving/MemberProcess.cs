using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Ida.Chaos.Members;

namespace Ida.Chaos.Driving;

/// <summary>One life of one member process, as the driver sees it.</summary>
internal sealed partial class MemberProcess : IDisposable
{
    private const int Stop = 19, Continue = 18;

    /// <summary>The exit code that tells of SIGKILL.</summary>
    private const int KilledCode = 128 + 9;

    /// <summary>What the runtime says of an exception that ends a process, before it ends it.</summary>
    private const string Unhandled = "Unhandled exception.";
    private static readonly TimeSpan s_output = TimeSpan.FromSeconds(5), s_fresh = TimeSpan.FromSeconds(1);
    private readonly Process _process;
    private readonly LastWords _words = new();

    /// <summary>Of the writer to its input: the nemesis and who hands a write on may tell it something at once.</summary>
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

    /// <summary>Whether it has spoken within the last second: a stopped process has not.</summary>
    public bool IsHeard => Stopwatch.GetElapsedTime(Volatile.Read(ref _heardAt)) < s_fresh;

    /// <summary>Whether it has, and its DHT has answered it within that time.</summary>
    public bool IsFresh => IsHeard && Status.IsAnswered;

    public bool HasExited => _process.HasExited;

    /// <summary>Told of each line in which the member asks for another to find out what became of a write.</summary>
    public Action<MemberProcess, string>? Unresolved { get; set; }

    /// <summary>Told of all that the member says of itself.</summary>
    public Action<MemberProcess, MemberStatus>? Said { get; set; }

    /// <summary>Whether the driver told it to end, or killed it, so that it takes nothing on any more.</summary>
    public bool MayEnd { get; set; }

    /// <summary>How it ended: 0 as it was told, 128 and the number of the signal that ended it, else a fault of its own; null while it runs.</summary>
    public int? ExitCode => _process.HasExited ? _process.ExitCode : null;

    /// <summary>
    /// Whether it ended, or was about to, without being told: before it was killed or told to leave, also where the driver took notice only after that.
    /// One that was told to leave is judged by its <see cref="ExitCode"/>.
    /// </summary>
    public bool EndedOnItsOwn => ExitCode is { } code && (_killed ? code != KilledCode || _unhandled : !MayEnd);

    /// <summary>How it ended, if it has, and what it wrote last; then it waits, for seconds at most, until all of that is here.</summary>
    public string LastWords
    {
        get
        {
            if (!HasExited) return _words.ToString();
            _ = _process.WaitForExitAsync().Wait(s_output);
            return $"exit code {_process.ExitCode} {_words}";
        }
    }

    /// <summary>Called by the <see cref="Starter"/>'s thread: the member ends when that thread does.</summary>
    public static MemberProcess Start(MemberPlace place)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!);
        // Started as `dotnet Ida.Chaos.dll`, the process is dotnet and wants the assembly first.
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet") start.ArgumentList.Add(typeof(MemberProcess).Assembly.Location);
        start.ArgumentList.Add(Program.MemberCommand);
        foreach (string word in place.Words) start.ArgumentList.Add(word);
        return Start(place, start);
    }

    /// <summary>The same with a program of the caller's choice.</summary>
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

    /// <summary>Waits until it has ended and all that it wrote is here.</summary>
    /// <param name="limit">For how long.</param>
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

    // A process that is there no more has ended on its own, which is found by its end.
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
