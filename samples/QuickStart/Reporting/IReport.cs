using QuickStart.Conducting;

namespace QuickStart.Reporting;

/// <summary>Shows the progress and the result of a run to a person.</summary>
internal interface IReport
{
    /// <summary>Reports a step of the run, at this time since the start.</summary>
    void Step(TimeSpan at, string text);

    /// <summary>Reports how far loading and reading have come.</summary>
    void Progress(int rows, int ofRows, long reads);

    /// <summary>Reports the result.</summary>
    void Summary(RunResult result);
}
