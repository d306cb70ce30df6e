using GroupCore.Groups;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Cluster.Tests;

/// <summary>node-and-turn.md#a-checker-has-a-negative-control over the whole stack: a checker finds out a cluster whose nodes leave out a rule.</summary>
public sealed class NegativeControlTests(ITestOutputHelper output)
{
    private const string Synchrony = "virtual synchrony";

    [Theory]
    [InlineData(nameof(DhtRules.PutWaitsForSeal), nameof(AnomalyKind.RealTimeViolation))]
    [InlineData(nameof(DhtRules.FastPathEqual), nameof(AnomalyKind.VersionOrder))]
    [InlineData(nameof(DhtRules.FastPathQuiescent), nameof(AnomalyKind.Divergence))]
    [InlineData(nameof(DhtRules.OutcomeTable), nameof(AnomalyKind.DuplicateElement))]
    [InlineData(nameof(DhtRules.FlushCommitsHeld), nameof(AnomalyKind.RealTimeViolation))]
    [InlineData(nameof(DhtRules.FlushNeedsAllHolders), nameof(AnomalyKind.NotSerializable))]
    [InlineData(nameof(GroupRules.OldViewRefused), nameof(AnomalyKind.Divergence), true)]
    public void The_serializability_checker_notices_a_rule_that_is_left_out(string rule, string anomaly, bool stragglers = false) =>
        Noticed(rule, 1_000, (run, without) => CallAndCrash(run, without, stragglers), error => error is ConsistencyViolationException && Names(error, anomaly));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void With_all_rules_the_serializability_checker_notices_nothing(bool stragglers) =>
        SimulationRunner.ForEachSeed(25, $"*{nameof(With_all_rules_the_serializability_checker_notices_nothing)}", run => CallAndCrash(run, null, stragglers));

    [Theory]
    [InlineData(nameof(GroupRules.FlushDelivers), nameof(GroupGuarantee.NoLoss))]
    [InlineData(nameof(GroupRules.R5LongestOrder), nameof(GroupGuarantee.TotalOrder))]
    public void The_virtual_synchrony_checker_notices_a_rule_that_is_left_out(string rule, string anomaly) =>
        Noticed(rule, 100, SendAndCrash, error => error is ConsistencyViolationException or InvariantViolatedException { Invariant: Synchrony } && Names(error, anomaly));

    [Fact]
    public void With_all_rules_virtual_synchrony_holds() =>
        SimulationRunner.ForEachSeed(25, $"*{nameof(With_all_rules_virtual_synchrony_holds)}", run => SendAndCrash(run, null));

    private static void CallAndCrash(SimulationCase run, string? without, bool stragglers)
    {
        var dht = new DhtCluster(run.Start(), new() { ListKeys = 2, ValueKeys = 2 }) { Without = without };
        var random = dht.Simulation.Random;
        dht.Run(6, async () =>
        {
            // Slow links make frames of the old view arrive in the new one.
            var ways = new List<(SimNode From, SimNode To)>();
            if (stragglers)
                for (int from = 1; from < 6; from++)
                    for (int to = 1; to < 6; to++)
                        if (from != to && random.Next(3) == 0) ways.Add((dht.Members[from].Host, dht.Members[to].Host));
            foreach (var (from, to) in ways) dht.Simulation.Network.Slow(from, to, 200);
            for (int i = 0; i < 2; i++)
            {
                await dht.Simulation.Delay(TimeSpan.FromMilliseconds(50 + random.Next(50)));
                // Not one of the first three, which vote in the Oracle.
                dht.Members[3 + random.Next(3)].Host.Crash();
            }
            await dht.Simulation.Delay(TimeSpan.FromMilliseconds(100));
            // At rest every member must serve, which frames that take seconds would prevent.
            foreach (var (from, to) in ways) dht.Simulation.Network.Slow(from, to, 1);
        }).ThrowIfFailed();
    }

    private static void SendAndCrash(SimulationCase run, string? without)
    {
        var cluster = new SimCluster(run.Start());
        var simulation = cluster.Simulation;
        var checker = new VirtualSynchronyChecker(new() { StatesAgree = true });
        var calls = new CallLedger(() => simulation.Now);
        simulation.AddInvariant(Synchrony, () => checker.Passed ? null : checker.ToString());
        simulation.RunAsync(async () =>
        {
            for (int i = 0; i < 3; i++) await cluster.StartAsync(null, without);
            var members = new List<WatchedMember>();
            for (int i = 0; i < 5; i++)
            {
                members.Add(new(checker, calls, await cluster.StartAsync(null, without)));
                await members[i].JoinAsync();
            }
            ulong message = 0;
            for (int turn = 0; turn < 40; turn++)
            {
                foreach (var one in members.Where(one => one.Usable))
                {
                    ulong id = ++message;
                    _ = simulation.Spawn(() => one.SendAsync(id, ordered: id % 2 == 0));
                }
                await simulation.Delay(TimeSpan.FromMicroseconds(100));
                if (turn != 20) continue;
                // It is the sequencer, so messages without a position are left to the flush.
                members[0].Member.Host.Crash();
                members[0].End();
            }
            await simulation.Delay(TimeSpan.FromSeconds(2));
            checker.CheckFinal(atRest: true);
            checker.ThrowIfFailed();
            calls.Finish();
            Assert.Null(calls.Wrong);
        }, TimeSpan.FromMinutes(1));
    }

    /// <summary>Shown by a seed in which the checker itself finds the anomaly that the missing rule causes, and in which nothing fails with all rules. What calls are
    /// told, and how members end, is for other checkers.</summary>
    private void Noticed(string rule, int most, Action<SimulationCase, string?> body, Func<Exception, bool> isVerdict)
    {
        for (ulong seed = 1; seed <= (ulong)most; seed++)
        {
            if (Judge(seed, body, rule) is not { } error) continue;
            string what = $"{rule}: seed {seed}: {error.GetType().Name}: {error.Message.Split('\n')[0]}";
            // A run that breaks down before it is judged shows nothing about the checker.
            if (!isVerdict(error)) output.WriteLine($"{what}: not judged");
            else if (Judge(seed, body, null) is { } bug) Assert.Fail($"{what}; and with all rules: {bug}");
            else
            {
                output.WriteLine($"{what} {string.Join(' ', error.Message.Split('\n').Skip(1).Take(2))}");
                return;
            }
        }
        Assert.Fail($"{most} runs without {rule} showed nothing.");
    }

    private static bool Names(Exception error, string anomaly) => error.Message.Contains(anomaly, StringComparison.Ordinal);

    private static Exception? Judge(ulong seed, Action<SimulationCase, string?> body, string? without)
    {
        var run = new SimulationCase(seed, "", null);
        try
        {
            body(run, without);
            return null;
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            return error;
        }
        finally
        {
            run.End();
        }
    }
}
