using Ida.Process.Tests.Processes;

namespace Ida.Packages.Tests;

/// <summary>A program that is trimmed of everything it does not use, except for the framework.</summary>
public sealed class TrimmedTests(Packages packages)
{
    /// <summary>The last line, of a type inside a registered one, is the control: for such types the guide says what to do.</summary>
    [Fact]
    public async Task Registered_types_keep_their_members_and_types_inside_them_do_not()
    {
        string path = (await packages.ProgramsAsync()).PathOf("Trimmed");
        string trimmed = await Trimmer.TrimAsync(path);
        Assert.True(Size(trimmed, "Ida.dll") < Size(path, "Ida.dll"));
        var whole = await LinesAsync(path);
        var lines = await LinesAsync(trimmed);
        Assert.Equal(7, whole.Length);
        Assert.Equal(whole[..^1], lines[..^1]);
        Assert.StartsWith("inside ", lines[^1], StringComparison.Ordinal);
        Assert.NotEqual(whole[^1], lines[^1]);
    }

    private static async Task<string[]> LinesAsync(string path)
    {
        var (exitCode, output, errors) = await SampleProcess.RunAsync(path);
        Assert.True(exitCode == 0, $"{output}\n{string.Join('\n', errors)}");
        return output.Split('\n');
    }

    private static long Size(string program, string assembly) => new FileInfo(Path.Combine(Path.GetDirectoryName(program)!, assembly)).Length;
}
