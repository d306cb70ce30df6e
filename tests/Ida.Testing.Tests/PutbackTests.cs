using System.Diagnostics;
using Ida.Tests.Shared;

namespace Ida.Testing.Tests;

/// <summary>The fixed defects on which campaigns are tested.</summary>
public sealed class PutbackTests
{
    [Fact]
    public async Task Every_defect_that_can_be_put_back_still_applies()
    {
        using var check = Process.Start(new ProcessStartInfo("bash", [RepositoryFiles.PathOf("tests/Ida.Campaign/putback"), "--check"]) { RedirectStandardOutput = true, RedirectStandardError = true })!;
        var said = check.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        var complained = check.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        await check.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(check.ExitCode == 0, $"{await said}{await complained}");
    }
}
