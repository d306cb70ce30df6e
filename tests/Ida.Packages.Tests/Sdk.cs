using System.Diagnostics;
using SystemProcess = System.Diagnostics.Process;

namespace Ida.Packages.Tests;

/// <summary>Commands of the .NET SDK.</summary>
internal static class Sdk
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(5);

    /// <summary>Runs <c>dotnet</c> in a folder to its end. Fails, with all its output, if it fails or takes longer than 5 minutes.</summary>
    public static async Task RunAsync(string folder, params string[] arguments)
    {
        // The output goes into a file: servers that the command leaves running would hold a pipe open.
        string said = Path.GetTempFileName();
        try
        {
            var start = new ProcessStartInfo("/bin/sh", ["-c", "exec dotnet \"$@\" > \"$0\" 2>&1", said, .. arguments]) { WorkingDirectory = folder, RedirectStandardInput = true };
            foreach (string name in start.Environment.Keys.Where(static name => name.StartsWith("MSBuild", StringComparison.OrdinalIgnoreCase)).ToArray()) start.Environment.Remove(name);
            start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
            start.Environment["DOTNET_CLI_UI_LANGUAGE"] = "en";
            using var process = SystemProcess.Start(start)!;
            process.StandardInput.Close();
            using var bound = new CancellationTokenSource(s_limit);
            try
            {
                await process.WaitForExitAsync(bound.Token);
            }
            catch (OperationCanceledException)
            {
                process.Kill(entireProcessTree: true);
                Assert.Fail($"dotnet {string.Join(' ', arguments)} takes longer than {s_limit}:\n{await File.ReadAllTextAsync(said)}");
            }
            Assert.True(process.ExitCode == 0, $"dotnet {string.Join(' ', arguments)} ended with exit code {process.ExitCode}:\n{await File.ReadAllTextAsync(said)}");
        }
        finally
        {
            File.Delete(said);
        }
    }
}
