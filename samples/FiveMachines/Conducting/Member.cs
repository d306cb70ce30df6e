using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using System.Threading.Channels;
using FiveMachines.Machines;
using FiveMachines.Members;

namespace FiveMachines.Conducting;

/// <summary>The process on one machine, as the conductor sees it: this program again. It ends when its input ends, so it does not outlive the conductor.</summary>
internal sealed class Member : IDisposable
{
    private const int TailLines = 8;
    private static readonly TimeSpan s_output = TimeSpan.FromSeconds(5);
    private readonly Process _process;
    private readonly ConcurrentQueue<string> _tail = new();

    private Member(int machine, Process process, ChannelWriter<int> told)
    {
        (Machine, _process) = (machine, process);
        process.OutputDataReceived += (_, line) => Hear(line.Data, told);
        process.ErrorDataReceived += (_, line) => Remember(line.Data);
        process.Exited += (_, _) => told.TryWrite(machine);
        process.EnableRaisingEvents = true;
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public int Machine { get; }

    /// <summary>What it told last.</summary>
    public Belief Belief { get; private set; } = Belief.None;

    public bool IsKilled { get; private set; }

    /// <summary>Whether it has ended though nobody killed it.</summary>
    public bool EndedOnItsOwn => !IsKilled && _process.HasExited;

    /// <summary>How it ended, and what it wrote last.</summary>
    public async Task<string> EpitaphAsync()
    {
        using var limit = new CancellationTokenSource(s_output);
        try
        {
            // Until all its output is here.
            await _process.WaitForExitAsync(limit.Token);
        }
        catch (OperationCanceledException)
        {
            // What is here has to do.
        }
        return $"the process of machine {Machine} ended on its own, with code {_process.ExitCode}:{string.Concat(_tail.Select(static line => Environment.NewLine + "    " + line))}";
    }

    /// <summary>Starts the process of a machine.</summary>
    /// <param name="machine">Its number.</param>
    /// <param name="at">What comes before the program, so that it runs on that machine.</param>
    /// <param name="words">The program's arguments.</param>
    /// <param name="key">The key of the cluster.</param>
    /// <param name="told">Gets the number of the machine whenever it has told something, and when it has ended.</param>
    public static Member Start(int machine, IReadOnlyList<string> at, IReadOnlyList<string> words, string key, ChannelWriter<int> told)
    {
        // If this program was started as `dotnet FiveMachines.dll`, the process is dotnet, whose first argument is the assembly.
        string program = Environment.ProcessPath!;
        IReadOnlyList<string> own = Path.GetFileNameWithoutExtension(program) == "dotnet" ? [program, typeof(Member).Assembly.Location] : [program];
        string[] all = [.. at, .. own, Program.MemberCommand, .. words];
        var start = new ProcessStartInfo(all[0]) { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (string word in all.Skip(1)) start.ArgumentList.Add(word);
        start.Environment[MemberProgram.KeyVariable] = key;
        return new(machine, Process.Start(start)!, told);
    }

    public void Tell(string line)
    {
        _process.StandardInput.WriteLine(line);
        _process.StandardInput.Flush();
    }

    /// <summary>SIGKILL: no goodbye.</summary>
    public void Kill()
    {
        IsKilled = true;
        if (!_process.HasExited) _process.Kill();
        _process.WaitForExit(TimeSpan.FromSeconds(5));
    }

    /// <summary>Stops or continues the process, for machines that are not real enough to be cut off.</summary>
    public Task SignalAsync(string signal) => Shell.RunAsync(null, "kill", $"-{signal}", _process.Id.ToString(CultureInfo.InvariantCulture));

    public void Dispose()
    {
        Kill();
        _process.Dispose();
    }

    private void Hear(string? line, ChannelWriter<int> told)
    {
        if (line is null) return;
        if (!line.StartsWith('{'))
        {
            Remember(line);
            return;
        }
        Belief = JsonSerializer.Deserialize(line, BeliefJson.Default.Belief)!;
        told.TryWrite(Machine);
    }

    private void Remember(string? line)
    {
        if (line is null) return;
        _tail.Enqueue(line);
        while (_tail.Count > TailLines) _tail.TryDequeue(out _);
    }
}
