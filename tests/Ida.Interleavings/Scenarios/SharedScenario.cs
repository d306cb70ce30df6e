using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary><c>SharedCompletion</c>: callers wait for one outcome, with tokens that fire, while it is set, to an error or to none.</summary>
internal sealed class SharedScenario : Scenario
{
    private const int Callers = 3;
    private const string Cancelled = "cancelled", Failed = "failed";

    public override string Name => "shared";

    public override string Rule => "each caller's wait ends once: with the outcome, or by its token";

    protected override IEnumerable<string> Own => [Cancelled, Failed];

    public override Action Begin(Schedule schedule)
    {
        int left = Callers;
        schedule.Start("main", () =>
        {
            var shared = new SharedCompletion();
            var host = new LoneHost(schedule);
            var outcome = schedule.Draw(2) == 0 ? new InvalidDataException("on purpose") : null;
            for (int i = 0; i < Callers; i++)
            {
                var source = schedule.Draw(2) == 0 ? new TokenSeam() : null;
                schedule.Start($"caller{i}", () =>
                {
                    Explored.Point("calls");
                    var waits = shared.WaitAsync(source?.Token ?? default);
                    Explored.Wait(() => waits.IsCompleted, what: "outcome");
                    Look(schedule, waits, outcome, source);
                    left--;
                });
                if (source is not null) schedule.Start($"token{i}", source.Cancel);
            }
            schedule.Start("setter", () => shared.TrySet(host.Node, outcome));
        });
        return () => Check.Equal(schedule, 0, left);
    }
    private static void Look(Schedule schedule, Task waits, Exception? outcome, TokenSeam? source)
    {
        try
        {
            waits.GetAwaiter().GetResult();
            Check.That(schedule, outcome is null, "A wait ended without the error");
        }
        catch (OperationCanceledException error)
        {
            Reached.At(Cancelled);
            Check.That(schedule, source is not null && error.CancellationToken == source.Token && source.Token.IsCancellationRequested, "A wait was cancelled by no token of its own");
        }
        catch (Exception error)
        {
            Reached.At(Failed);
            Check.That(schedule, ReferenceEquals(error, outcome), $"A wait ended with {error}");
        }
    }
}
