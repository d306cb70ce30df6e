using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>
/// Compares the checker with one that tries all orders. The checker never condemns a history that can be explained, and condemns every other one that tells enough. Histories
/// without versions tell too little, at least about writes of unknown outcome: it may be open which of two values, or absences, came first, while either answer contradicts
/// the rest. The number of violations missed in this way is bounded.
/// </summary>
public sealed class ExactComparisonTests(ITestOutputHelper output)
{
    private const int Seeds = 100_000;

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void All_histories_of_up_to_three_operations_on_one_key(bool lists, bool final)
    {
        var tally = new Tally(output);
        foreach (var history in AllHistories.Of(3, lists, versions: false, final)) tally.Add(history);
        tally.Check(mostMissed: 0);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void All_histories_of_up_to_three_operations_with_versions(bool lists)
    {
        var tally = new Tally(output);
        foreach (var history in AllHistories.Of(3, lists, versions: true, final: false)) tally.Add(history);
        tally.Check(mostMissed: 0);
    }

    [Theory]
    [InlineData(true, 0.001)]
    [InlineData(false, 0.02)]
    public void Random_histories_of_up_to_six_operations_on_two_keys(bool versions, double mostMissed)
    {
        var tally = new Tally(output);
        for (ulong seed = 1; seed <= Seeds; seed++)
        {
            var history = History.FromEvents(new SmallHistory(seed, versions).Make());
            tally.Add(history, mayMiss: !versions || history.Operations.Any(static operation => operation.Outcome == OperationOutcome.Info));
        }
        tally.Check(mostMissed);
        Assert.True(tally.Right > Seeds / 4 && tally.Wrong > Seeds / 10, "The histories are too much alike.");
    }

    private sealed class Tally(ITestOutputHelper output)
    {
        private int _missed;

        public int Right { get; private set; }

        public int Wrong { get; private set; }

        public void Add(History history, bool mayMiss = true)
        {
            bool explained = ExactChecker.IsExplained(history);
            var report = StrictSerializabilityChecker.Check(history);
            if (explained) Right++;
            else Wrong++;
            if (explained == report.Passed) return;
            Assert.False(explained, $"An order explains it, and yet it is condemned: {report}\n{Text(history)}");
            Assert.True(mayMiss, $"No order explains it, its versions say so, and yet it passes:\n{Text(history)}");
            if (_missed++ < 5) output.WriteLine($"Missed:\n{Text(history)}");
        }

        public void Check(double mostMissed)
        {
            output.WriteLine($"{Right} right, {Wrong} wrong, {_missed} of them missed");
            Assert.True(Right > 100 && Wrong > 50, "Too few to tell anything.");
            Assert.InRange(_missed, 0, Wrong * mostMissed);
        }

        private static string Text(History history) => string.Join('\n', history.Operations) + string.Concat(history.Finals.Select(static final => $"\nfinal: {string.Join(' ', final.State)}"));
    }
}
