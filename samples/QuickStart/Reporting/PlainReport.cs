using QuickStart.Conducting;

namespace QuickStart.Reporting;

/// <summary>Lines of plain text, for a file, a pipe or a log.</summary>
internal sealed class PlainReport(TextWriter output) : IReport
{
    private int _quarters;

    public void Step(TimeSpan at, string text) => output.WriteLine($"{at.TotalSeconds,6:0.00} s  {text}");

    public void Progress(int rows, int ofRows, long reads)
    {
        int quarters = rows * 4 / ofRows;
        if (quarters <= _quarters) return;
        _quarters = quarters;
        output.WriteLine($"          {rows} of {ofRows} rows stored, {reads} reads checked");
    }

    public void Summary(RunResult result)
    {
        output.WriteLine();
        foreach (var (name, value) in result.Figures) output.WriteLine($"  {name,-28}  {value}");
        output.WriteLine();
        foreach (var check in result.Checks) output.WriteLine($"  {(check.Passed ? "ok    " : "FAILED")}  {check.Name}: {check.Detail}");
        output.WriteLine();
        output.WriteLine(result.Passed ? "All checks passed." : "The run FAILED.");
    }
}
