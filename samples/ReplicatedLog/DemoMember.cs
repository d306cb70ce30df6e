using System.Diagnostics;
using System.Threading.Channels;

namespace ReplicatedLog;

/// <summary>A member process that the demo started: this program again. The demo writes to its input what a person would type.</summary>
internal sealed class DemoMember : IDisposable
{
    private readonly Process _process;
    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();
    private string _view = "";

    public DemoMember(string name, string seed)
    {
        Name = name;
        var start = new ProcessStartInfo(Environment.ProcessPath!) { RedirectStandardInput = true, RedirectStandardOutput = true };
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet") start.ArgumentList.Add(typeof(DemoMember).Assembly.Location);
        foreach (string argument in (string[])["--seed", seed, "--name", name]) start.ArgumentList.Add(argument);
        _process = Process.Start(start)!;
        _process.OutputDataReceived += (_, line) => Take(line.Data);
        _process.BeginOutputReadLine();
    }

    public string Name { get; }

    public void Type(string line) => _process.StandardInput.WriteLine(line);

    /// <summary>The next line of its output that contains a text.</summary>
    public async Task<string> SeesAsync(string text)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (true)
        {
            string line = await NextAsync(limit.Token);
            if (line.Contains(text, StringComparison.Ordinal)) return line;
        }
    }

    /// <summary>Completes when the latest view that the member printed, maybe before this call, has these members.</summary>
    public async Task IsInViewAsync(string members)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (!_view.EndsWith($": {members}", StringComparison.Ordinal)) await NextAsync(limit.Token);
    }

    /// <summary>Sends SIGKILL.</summary>
    public void Kill() => _process.Kill();

    /// <summary>Closes the member's input, so that it leaves and ends.</summary>
    public Task LeaveAsync()
    {
        _process.StandardInput.Close();
        return _process.WaitForExitAsync().WaitAsync(TimeSpan.FromSeconds(15));
    }

    public void Dispose()
    {
        if (!_process.HasExited) _process.Kill();
        _process.Dispose();
    }

    private async Task<string> NextAsync(CancellationToken limit)
    {
        string line = await _lines.Reader.ReadAsync(limit);
        if (line.TrimStart().StartsWith("view ", StringComparison.Ordinal)) _view = line;
        return line;
    }

    private void Take(string? line)
    {
        if (line is null)
        {
            _lines.Writer.TryComplete();
            return;
        }
        Console.WriteLine($"{Name,4} | {line}");
        _lines.Writer.TryWrite(line);
    }
}
