using QuickStart.Conducting;

namespace QuickStart.Reporting;

/// <summary>Shows the progress and the result of a run to a person.</summary>
internal interface IReport
{
    /// <summary>Something happened, at this time since the start.</summary>
    void Step(TimeSpan at, string text);

    /// <summary>How far loading and reading are.</summary>
    void Progress(int rows, int ofRows, long reads);

    /// <summary>The result.</summary>
    void Summary(RunResult result);
}
