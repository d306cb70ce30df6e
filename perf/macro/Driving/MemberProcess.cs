using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.Json.Nodes;

namespace Ida.Perf.Macro.Driving;

/// <summary>One member process and the dialogue with it: one command line in, one answer line out.</summary>
internal sealed class MemberProcess : IDisposable
{
    private const int TailLines = 12;
    private readonly Process _process;
    private readonly BlockingCollection<string> _answers = [];
    private readonly ConcurrentQueue<string> _tail = new();
    private readonly bool _verbose;

    private MemberProcess(string name, Process process, bool verbose)
    {
        (Name, _process, _verbose) = (name, process, verbose);
        process.OutputDataReceived += (_, line) => _answers.Add(line.Data ?? $"{MemberAnswer.Failed} the process ended");
        process.ErrorDataReceived += (_, line) => Remember(line.Data);
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public string Name { get; }

    public int Id => _process.Id;

    /// <summary>Starts this program again as a member. Only the main thread may call this: the member ends when the thread that started it ends.</summary>
    public static MemberProcess Start(string name, IEnumerable<string> arguments, bool verbose)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        // If started as `dotnet Ida.Perf.Macro.dll`, the process is dotnet and expects the assembly as first argument.
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet") start.ArgumentList.Add(typeof(MemberProcess).Assembly.Location);
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        return new(name, Process.Start(start)!, verbose);
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
            // The process is gone; its end arrives as the answer.
        }
    }

    public JsonObject Answer(int seconds)
    {
        if (!_answers.TryTake(out string? line, TimeSpan.FromSeconds(seconds))) throw new RunFailedException($"{Name}: no answer in {seconds} s");
        if (line.StartsWith(MemberAnswer.Done, StringComparison.Ordinal)) return (JsonObject)JsonNode.Parse(line.AsSpan(MemberAnswer.Done.Length).ToString())!;
        throw new RunFailedException($"{Name}: {line}{(_tail.IsEmpty ? "" : " | " + string.Join(" | ", _tail))}");
    }

    public void Kill()
    {
        try
        {
            _process.Kill();
        }
        catch (InvalidOperationException)
        {
            // The process has already ended.
        }
    }

    /// <summary>Kills it and waits for its end.</summary>
    public void Dispose()
    {
        Kill();
        _process.WaitForExit(TimeSpan.FromSeconds(5));
        _process.Dispose();
        _answers.Dispose();
    }

    private void Remember(string? line)
    {
        if (line is null) return;
        if (_verbose) Console.Error.WriteLine($"{Name}: {line}");
        _tail.Enqueue(line);
        while (_tail.Count > TailLines) _tail.TryDequeue(out _);
    }
}
