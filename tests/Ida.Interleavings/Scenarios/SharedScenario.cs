using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary><c>SharedCompletion</c>: callers that wait for one outcome, with tokens that fire, while it is set.</summary>
internal sealed class SharedScenario : Scenario
{
    private const int Callers = 3;

    public override string Name => "shared";

    public override string Rule => "each caller's wait ends once: with the outcome, or by its token";

    public override Action Begin(Schedule schedule)
    {
        int left = Callers;
        schedule.Start("main", () =>
        {
            var shared = new SharedCompletion();
            var host = new LoneHost(schedule);
            for (int i = 0; i < Callers; i++)
            {
                var source = schedule.Draw(2) == 0 ? new TokenSeam() : null;
                schedule.Start($"caller{i}", () =>
                {
                    Explored.Point("calls");
                    var waits = shared.WaitAsync(source?.Token ?? default);
                    Explored.Wait(() => waits.IsCompleted, what: "outcome");
                    if (source is null) Check.That(schedule, waits.IsCompletedSuccessfully, "A wait ended otherwise");
                    left--;
                });
                if (source is not null) schedule.Start($"token{i}", source.Cancel);
            }
            schedule.Start("setter", () => shared.TrySet(host.Node, null));
        });
        return () => Check.Equal(schedule, 0, left);
    }
}
