using System.Diagnostics;
using System.Text;

namespace Ida.Mutation;

/// <summary>Runs a program until it ends, or until its time is over.</summary>
internal static class Tool
{
    /// <returns>Its exit code, or null if its time was over and it was killed with all processes that it had started; and its output.</returns>
    public static (int? Code, string Output) Run(string program, IReadOnlyList<string> arguments, string folder, TimeSpan? limit = null, params IReadOnlyList<(string Name, string Value)> environment)
    {
        var info = new ProcessStartInfo(program, arguments) { WorkingDirectory = folder, RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var (name, value) in environment) info.Environment[name] = value;
        var output = new StringBuilder();
        using var process = new Process { StartInfo = info };
        process.OutputDataReceived += (_, line) => Append(line.Data);
        process.ErrorDataReceived += (_, line) => Append(line.Data);
        process.Start();
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        bool ended = process.WaitForExit(limit ?? Timeout.InfiniteTimeSpan);
        if (!ended) process.Kill(entireProcessTree: true);
        process.WaitForExit();
        lock (output) return (ended ? process.ExitCode : null, output.ToString());

        void Append(string? line)
        {
            lock (output) output.Append(line).Append(program == "git" ? "" : "\n");
        }
    }
}
