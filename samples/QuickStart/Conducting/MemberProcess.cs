using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.Json;
using System.Threading.Channels;
using QuickStart.Protocol;

namespace QuickStart.Conducting;

/// <summary>One member process as the conductor sees it: lines in, lines out, and the state that its lines reported.</summary>
internal sealed class MemberProcess : IDisposable
{
    private const int TailLines = 8;
    private readonly Process _process;
    private readonly ConcurrentQueue<string> _tail = new();
    private readonly Task _reading;

    private MemberProcess(string name, Process process, ChannelWriter<(MemberProcess, MemberEvent?)> events)
    {
        (Name, _process) = (name, process);
        process.ErrorDataReceived += (_, line) => Remember(line.Data);
        process.BeginErrorReadLine();
        _reading = Task.Run(() => ReadAsync(events));
    }

    public string Name { get; }

    public int ProcessId => _process.Id;

    /// <summary>Whether the conductor killed it or told it to stop, so that its end is no surprise.</summary>
    public bool MayEnd { get; set; }

    public bool Ended { get; set; }

    public string Address { get; set; } = "";

    public ViewEvent? View { get; set; }

    public bool Enabled { get; set; }

    public SlotEvent? Slot { get; set; }

    public long Reads { get; set; }

    public long KeysRead { get; set; }

    public bool Quiet { get; set; }

    public VerifiedEvent? Verified { get; set; }

    /// <summary>Starts this program again as a member. A member ends when its input ends, and the system closes that input when this process ends in any way.</summary>
    public static MemberProcess Start(string name, ChannelWriter<(MemberProcess, MemberEvent?)> events)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        // If this program was started as `dotnet QuickStart.dll`, the process is dotnet, whose first argument is the assembly.
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet") start.ArgumentList.Add(typeof(MemberProcess).Assembly.Location);
        start.ArgumentList.Add(Program.MemberCommandName);
        return new(name, Process.Start(start)!, events);
    }

    public void Send(MemberCommand command)
    {
        try
        {
            _process.StandardInput.WriteLine(JsonSerializer.Serialize(command, LineJson.Default.MemberCommand));
            _process.StandardInput.Flush();
        }
        catch (IOException)
        {
            // The process is gone; its end comes as an event.
        }
    }

    /// <summary>SIGKILL: no handler runs, nothing is flushed, no goodbye is said.</summary>
    public void Kill()
    {
        MayEnd = true;
        try
        {
            _process.Kill();
        }
        catch (InvalidOperationException)
        {
            // The process has ended already.
        }
    }

    public Task WaitForExitAsync(CancellationToken limit) => _process.WaitForExitAsync(limit);

    /// <summary>How the process ended, with its last lines of output.</summary>
    public string Epitaph() => $"{Name} (process {ProcessId}) ended on its own with exit code {_process.ExitCode}"
        + (_tail.IsEmpty ? "" : ":" + string.Concat(_tail.Select(line => Environment.NewLine + "    " + line)));

    public void Dispose()
    {
        Kill();
        _process.WaitForExit(TimeSpan.FromSeconds(5));
        _reading.Wait(TimeSpan.FromSeconds(5));
        _process.Dispose();
    }

    private async Task ReadAsync(ChannelWriter<(MemberProcess, MemberEvent?)> events)
    {
        while (await _process.StandardOutput.ReadLineAsync() is { } line)
        {
            try
            {
                events.TryWrite((this, JsonSerializer.Deserialize(line, LineJson.Default.MemberEvent)));
            }
            catch (JsonException)
            {
                Remember(line);
            }
        }
        await _process.WaitForExitAsync();
        events.TryWrite((this, null));
    }

    private void Remember(string? line)
    {
        if (line is null) return;
        _tail.Enqueue(line);
        while (_tail.Count > TailLines) _tail.TryDequeue(out _);
    }
}
