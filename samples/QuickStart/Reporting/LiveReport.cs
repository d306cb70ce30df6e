using QuickStart.Conducting;
using Spectre.Console;

namespace QuickStart.Reporting;

/// <summary>For a person at a terminal: bars while it loads, a table at the end.</summary>
internal sealed class LiveReport(IAnsiConsole console) : IReport
{
    private ProgressTask? _rows;
    private ProgressTask? _reads;

    /// <summary>Runs the work and shows bars meanwhile; they disappear when it ends.</summary>
    public Task<T> RunAsync<T>(Func<Task<T>> work) => console.Progress()
        .AutoClear(true)
        .Columns(new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new ElapsedTimeColumn())
        .StartAsync(async bars =>
        {
            _rows = bars.AddTask("rows stored");
            _reads = bars.AddTask("reads checked").IsIndeterminate();
            return await work();
        });

    public void Step(TimeSpan at, string text) => console.MarkupLineInterpolated($"[grey]{at.TotalSeconds,6:0.00} s[/]  {text}");

    public void Progress(int rows, int ofRows, long reads)
    {
        if (_rows is null || _reads is null) return;
        _rows.MaxValue = ofRows;
        _rows.Value = rows;
        _rows.Description = $"rows stored {rows,6}";
        _reads.Description = $"reads checked {reads,4}";
    }

    public void Summary(RunResult result)
    {
        var figures = new Table().Border(TableBorder.Rounded).BorderColor(Color.Grey).HideHeaders().AddColumns("", "");
        foreach (var (name, value) in result.Figures) figures.AddRow(new Text(name, new Style(Color.Grey)), new Text(value));
        console.Write(figures);
        foreach (var check in result.Checks)
        {
            var mark = check.Passed ? "[green]✓[/]" : "[red]✗[/]";
            console.MarkupLine($" {mark} {Markup.Escape(check.Name)}[grey]: {Markup.Escape(check.Detail)}[/]");
        }
        console.WriteLine();
        console.MarkupLine(result.Passed ? "[green]All checks passed.[/]" : "[red]The run FAILED.[/]");
    }
}
