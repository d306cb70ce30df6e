using System.Diagnostics;

namespace FiveMachines.Machines;

/// <summary>Runs other programs to their end.</summary>
internal static class Shell
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(30);

    /// <summary>What the program wrote.</summary>
    /// <param name="input">What it reads; null: nothing.</param>
    /// <param name="words">The program and its arguments.</param>
    /// <exception cref="ShellException">It could not be started, ended with another code than 0, or not in time.</exception>
    public static async Task<string> RunAsync(string? input, params IReadOnlyList<string> words)
    {
        var start = new ProcessStartInfo(words[0]) { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (string word in words.Skip(1)) start.ArgumentList.Add(word);
        using var process = Start(start);
        using var limit = new CancellationTokenSource(s_limit);
        try
        {
            var output = process.StandardOutput.ReadToEndAsync(limit.Token);
            var errors = process.StandardError.ReadToEndAsync(limit.Token);
            await process.StandardInput.WriteAsync(input);
            process.StandardInput.Close();
            await process.WaitForExitAsync(limit.Token);
            if (process.ExitCode == 0) return await output;
            throw new ShellException($"'{string.Join(' ', words)}' ended with code {process.ExitCode}: {(await errors).Trim()}");
        }
        catch (OperationCanceledException)
        {
            process.Kill();
            throw new ShellException($"'{string.Join(' ', words)}' did not end.");
        }
        catch (IOException error)
        {
            throw new ShellException($"'{string.Join(' ', words)}' does not read its input: {error.Message}");
        }
    }

    private static Process Start(ProcessStartInfo start)
    {
        try
        {
            return Process.Start(start)!;
        }
        catch (System.ComponentModel.Win32Exception error)
        {
            throw new ShellException($"'{start.FileName}' cannot be started: {error.Message}");
        }
    }
}
