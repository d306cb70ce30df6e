using System.Globalization;
using Ida.Network.Tests.Hosts;

namespace Ida.Network.Tests;

/// <summary>
/// The network falls apart. Only the side with the majority goes on, the others know that they may not act, and there are never two primaries.
/// </summary>
[Collection(SharedClusterCollection.Name)]
public sealed class PartitionTests(SharedCluster shared)
{
    /// <summary>How soon the majority has a write acknowledged at each of its members.</summary>
    private static readonly TimeSpan s_goesOn = TimeSpan.FromSeconds(5);

    /// <summary>How soon a process that is cut off is blocked: after the 3 s without contact, and what a busy machine adds.</summary>
    private static readonly TimeSpan s_blocked = TimeSpan.FromSeconds(5);

    /// <summary>How long it is waited for what comes sooner unless the machine is held up.</summary>
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(30);

    /// <summary>For how long at most a process that is cut off may act as before: its last lease, of a second. The cut itself takes a moment.</summary>
    private static readonly TimeSpan s_lease = TimeSpan.FromSeconds(1.5);

    [Fact]
    public Task Two_against_three_where_the_two_have_the_leader() => MajorityGoesOnAsync("split-2-3", static cluster => [cluster.PairThatMayBeLost()]);

    [Fact]
    public Task Three_go_on_without_two_that_are_each_alone() => MajorityGoesOnAsync("split-1-1-3", static cluster =>
    {
        int[] pair = cluster.PairThatMayBeLost();
        return [[pair[0]], [pair[1]]];
    });

    /// <summary>Nothing is decided, nobody acts, and after the heal all go on as if nothing had been, in the same view.</summary>
    [Fact]
    public async Task Without_a_majority_all_wait_and_then_go_on_in_the_same_view()
    {
        var cluster = await shared.ClusterAsync();
        var trial = await HostTrial.BeginAsync(cluster, "split-2-2-1");
        ulong view = cluster.Status(1).View;
        await cluster.Machines.CutAsync([1, 2], [3, 4, 5]);
        await cluster.Machines.CutAsync([5], [3, 4]);
        long cut = HostTrial.Now;
        var blocked = await cluster.UntilAsync("all are blocked", s_limit, () => cluster.Plan.Machines.All(machine => cluster.Status(machine).State == "Blocked"));
        long healed = HostTrial.Now;
        await cluster.Machines.HealAsync();
        var records = await trial.EndAsync(Text($"all blocked after {blocked.TotalSeconds:F1} s"));
        CheckBlocked(blocked, trial.HeldUp);
        CheckQuiet(records, cluster.Plan.Machines, cut, healed);
        var views = records.Acts.Select(static act => act.View).Distinct().ToList();
        // Fewer than five may have been in the views before, while the group came together.
        Assert.True(views.Max() == view, $"Views {string.Join(", ", views)} were acted in, and view {view} was that of all.");
        shared.Release();
    }

    private async Task MajorityGoesOnAsync(string name, Func<HostCluster, int[][]> minoritiesOf)
    {
        var cluster = await shared.ClusterAsync();
        var trial = await HostTrial.BeginAsync(cluster, name);
        int[][] minorities = minoritiesOf(cluster);
        int[] minority = [.. minorities.SelectMany(static one => one)], majority = [.. cluster.Plan.Machines.Except(minority)];
        foreach (int[] one in minorities) await cluster.Machines.CutAsync(one, [.. cluster.Plan.Machines.Except(one)]);
        long cut = HostTrial.Now;
        var blocking = cluster.UntilAsync("the minority is blocked", s_limit, () => minority.All(machine => cluster.Status(machine).State == "Blocked"));
        await cluster.UntilAsync("the majority is in a view of its own", s_limit, () => cluster.AreTogether(majority));
        await trial.AdvanceAsync(majority);
        var blocked = await blocking;
        long healed = HostTrial.Now;
        var records = await trial.EndAsync(Text($"cut off {string.Join(" | ", minorities.Select(static one => string.Join(' ', one)))}, blocked {blocked.TotalSeconds:F1} s after"));
        var heldUp = trial.HeldUp;
        var goesOn = records.FirstWriteAfter(cut, majority);
        TestContext.Current.TestOutputHelper?.WriteLine(Text($"{name}: each of the majority had a write acknowledged {goesOn.TotalSeconds:F2} s after the cut"));
        Assert.True(goesOn <= s_goesOn + heldUp, $"The majority's first writes were acknowledged {goesOn.TotalSeconds} s after the cut.");
        CheckBlocked(blocked, heldUp);
        CheckQuiet(records, minority, cut, healed);
        // What the majority did meanwhile is what the acts of the minority were compared with.
        Assert.All(majority, machine => Assert.True(records.ActsOf([machine], LeaseOver(cut), healed) > 0, $"machine {machine} did nothing meanwhile"));
        Assert.NotNull(records.Margin);
        shared.Release();
    }

    private static void CheckBlocked(TimeSpan blocked, TimeSpan heldUp) =>
        Assert.True(blocked <= s_blocked + heldUp, $"Who was cut off was blocked {blocked.TotalSeconds} s after the cut; a process was held up for {heldUp.TotalMilliseconds} ms.");

    /// <summary>When the last lease of a process that was cut off has ended.</summary>
    private static long LeaseOver(long cut) => cut + (long)s_lease.TotalNanoseconds;

    /// <summary>Nothing of what only the primary may do was done by these processes from the end of their last leases to the heal, and none of their clients had an answer.</summary>
    private static void CheckQuiet(HostRecords records, IReadOnlyList<int> machines, long cut, long healed)
    {
        long over = LeaseOver(cut);
        Assert.True(healed > over, "The cut was shorter than a lease, and shows nothing.");
        Assert.Equal((0, 0), (records.ActsOf(machines, over, healed), records.AnswersTo(machines, over, healed)));
        // What they recorded before shows that the records are complete.
        Assert.All(machines, machine => Assert.True(records.ActsOf([machine], 0, cut) > 0, $"machine {machine} recorded nothing"));
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
