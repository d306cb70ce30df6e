using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Ida.Perf.Tests;

/// <summary>The tests of perf/peers, which are Python: they fail here when they fail there, and are skipped only where there is no python3.</summary>
public sealed class PeersRunTests
{
    private static string Folder([CallerFilePath] string here = "") => Path.GetFullPath(Path.Combine(Path.GetDirectoryName(here)!, "../../perf/peers"));

    [Fact]
    public async Task The_tests_of_the_peer_harness_pass()
    {
        using var process = Start();
        if (process is null) Assert.Skip("no python3 on this machine");
        string said = await process!.StandardError.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.True(process.ExitCode == 0, said);
        Assert.DoesNotContain("Ran 0 tests", said, StringComparison.Ordinal);
    }

    private static Process? Start()
    {
        try
        {
            return Process.Start(new ProcessStartInfo("python3", ["-B", "-m", "unittest", "discover", "-s", "tests"]) { WorkingDirectory = Folder(), RedirectStandardError = true });
        }
        catch (Win32Exception)
        {
            return null;
        }
    }
}
