using GroupCore.Runtime;

namespace GroupCore.Tests.Runtime;

/// <summary>Each step that ends a node runs, whatever those before it throw.</summary>
public sealed class StopStepsTests
{
    [Fact]
    public void Each_step_runs_whatever_those_before_it_throw_and_all_is_told()
    {
        var steps = new StopSteps();
        var ran = new List<int>();
        for (int i = 0; i < 4; i++)
        {
            int number = i;
            steps.Do(() =>
            {
                ran.Add(number);
                if (number % 2 == 1) throw new InvalidOperationException($"{number}");
            });
        }
        Assert.Equal([0, 1, 2, 3], ran);
        Assert.Equal(["1", "3"], Assert.Throws<AggregateException>(() => steps.ThrowIfAny()).InnerExceptions.Select(static error => error.Message));
    }

    [Fact]
    public void An_end_without_errors_is_quiet()
    {
        var steps = new StopSteps();
        steps.Do(static () => { });
        steps.ThrowIfAny();
    }
}
