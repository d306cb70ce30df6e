using System.Globalization;

namespace Ida.Process.Tests.Processes;

/// <summary>Reads /proc: who is a child of whom, and who still runs. A zombie that nobody collects does not run.</summary>
/// <remarks>Apart from the product's table, which knows no parents and is itself judged by these tests.</remarks>
internal static class ProcessTable
{
    public static int[] ChildrenOf(int parent) =>
        [.. Directory.EnumerateDirectories("/proc").Select(d => Path.GetFileName(d))
            .Where(name => char.IsAsciiDigit(name[0])).Select(name => int.Parse(name, CultureInfo.InvariantCulture))
            .Where(id => Stat(id) is { } stat && stat.Parent == parent)];

    public static bool Runs(int processId) => Stat(processId) is { State: not ('Z' or 'X') };

    /// <summary>Waits until none of the processes runs; false if some still run when the time is over.</summary>
    public static async Task<bool> AllGoneAsync(IReadOnlyCollection<int> processes, TimeSpan limit)
    {
        using var bound = new CancellationTokenSource(limit);
        while (processes.Any(Runs))
        {
            if (bound.IsCancellationRequested) return false;
            await Task.Delay(10, CancellationToken.None);
        }
        return true;
    }

    private static (char State, int Parent)? Stat(int processId)
    {
        try
        {
            string text = File.ReadAllText($"/proc/{processId}/stat");
            string[] fields = text[(text.LastIndexOf(')') + 2)..].Split(' ');
            return (fields[0][0], int.Parse(fields[1], CultureInfo.InvariantCulture));
        }
        catch (IOException)
        {
            return null;
        }
    }
}
