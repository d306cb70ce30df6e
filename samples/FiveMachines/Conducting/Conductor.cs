using System.Runtime.InteropServices;
using FiveMachines.Machines;
using FiveMachines.Members;

namespace FiveMachines.Conducting;

/// <summary>The run: five processes find each other, two are cut off and come back, one is killed and replaced; then the counter is compared with what was acknowledged.</summary>
internal sealed class Conductor(Cluster cluster, Screen screen, bool isNetwork)
{
    private static readonly TimeSpan s_start = TimeSpan.FromSeconds(60), s_limit = TimeSpan.FromSeconds(30);

    /// <summary>Those that are cut off: the founder of the cluster, which leads its membership, and one more.</summary>
    private static readonly int[] s_cut = [1, 2], s_others = [3, 4, 5];
    private const int Killed = 4;

    /// <summary>What processes that are gone had been told.</summary>
    private long _acknowledged, _unknown;

    /// <summary>How often at most the process that was killed had begun to add since its last line.</summary>
    private long _untold;

    public static async Task<int> RunAsync()
    {
        using var interrupted = new CancellationTokenSource();
        // What is made has to be removed, so this process goes on until then.
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, signal => EndOn(signal, interrupted));
        using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, signal => EndOn(signal, interrupted));
        Namespaces? network = null;
        string kind;
        try
        {
            network = await Namespaces.CreateAsync(Cluster.Size);
            kind = "Five network namespaces and a switch: five machines, each with an address of its own.";
        }
        catch (ShellException reason)
        {
            kind = $"Five addresses of the loopback, since here is no more to be had: {reason.Message}. Instead of being cut off, processes are stopped.";
        }
        try
        {
            using var cluster = new Cluster(network, interrupted.Token);
            var screen = new Screen(cluster);
            screen.Tell(kind);
            try
            {
                await new Conductor(cluster, screen, network is not null).RunStepsAsync();
                screen.Tell("All checks held.");
                return 0;
            }
            catch (Exception failed) when (failed is RunFailedException or ShellException or IOException)
            {
                screen.Tell($"FAILED: {failed.Message}");
                return 1;
            }
        }
        finally
        {
            if (network is not null) await network.DisposeAsync();
        }
    }

    private static void EndOn(PosixSignalContext signal, CancellationTokenSource interrupted)
    {
        signal.Cancel = true;
        interrupted.Cancel();
    }

    private async Task RunStepsAsync()
    {
        for (int machine = 1; machine <= Cluster.Size; machine++) cluster.Start(machine);
        await cluster.UntilAsync("five processes are in one view, and count", s_start, () => AreTogether(Cluster.Size) && cluster.Members.All(static one => one.Belief is { Acknowledged: > 10, Total: > 0 }));
        screen.Tell("Five processes have found each other, with one key. Each adds to a counter and reads it.");
        await CutAsync();
        await KillAsync();
        await CompareAsync();
    }

    /// <summary>Two are cut off. The others go on, and these two do not; then they come back.</summary>
    private async Task CutAsync()
    {
        long before = AcknowledgedBy(s_others);
        await cluster.CutOffAsync(s_cut);
        screen.Tell(isNetwork ? "Machines 1 and 2 are cut off from the others." : "The processes 1 and 2 are stopped.");
        await cluster.UntilAsync("three processes go on without the two", s_limit, () => s_others.All(machine => BeliefOf(machine) is { Members.Count: 3, State: "Active", Total: not null }) && AcknowledgedBy(s_others) > before + 20);
        long majority = BeliefOf(s_others[0]).Total!.Value;
        if (isNetwork) await cluster.UntilAsync("the two are blocked, and read nothing", s_limit, () => s_cut.All(machine => BeliefOf(machine) is { State: "Blocked", Total: null }));
        long blocked = AcknowledgedBy(s_cut);
        screen.Tell(isNetwork
            ? "The three have a view of their own and count on. The two still have the old view, get no answers and know that they may not act."
            : "The three have a view of their own and count on. Of the two the table shows what they said last.");
        await cluster.UntilAsync("the three count on", s_limit, () => s_others.All(machine => BeliefOf(machine).Total > majority));
        if (isNetwork && AcknowledgedBy(s_cut) != blocked) throw new RunFailedException("a process that is cut off was told that it has added something");
        await cluster.HealAsync(s_cut);
        screen.Tell(isNetwork ? "The cut is healed." : "The two processes go on.");
        await cluster.UntilAsync("five processes are in one view again", s_limit, () => AreTogether(Cluster.Size));
        screen.Tell("The two were told that they had been excluded. They are back as new members, with the state that the others have.");
    }

    private async Task KillAsync()
    {
        var victim = cluster.Members[Killed - 1];
        victim.Kill();
        // Its last line may be older than its last addition.
        _untold = MemberProgram.MostAdditions(TimeSpan.FromMilliseconds(Environment.TickCount64 - victim.Belief.At));
        _acknowledged += victim.Belief.Acknowledged;
        _unknown += victim.Belief.Unknown;
        screen.Tell($"The process of machine {Killed} is killed.");
        int[] left = [.. Enumerable.Range(1, Cluster.Size).Where(static machine => machine != Killed)];
        await cluster.UntilAsync("four processes go on", s_limit, () => left.All(machine => BeliefOf(machine) is { Members.Count: 4, Total: not null }));
        screen.Tell("The four have a view without it.");
        victim.Dispose();
        cluster.Start(Killed);
        await cluster.UntilAsync("five processes are in one view again", s_limit, () => AreTogether(Cluster.Size));
        screen.Tell($"Another process has begun on machine {Killed}, at the same address.");
    }

    /// <summary>Each addition that was acknowledged is in the counter, once; of the others some may be.</summary>
    private async Task CompareAsync()
    {
        foreach (var member in cluster.Members) member.Tell(MemberProgram.Rest);
        // Who rests may have told its total before another one's last addition; who rests last tells the total that remains.
        await cluster.UntilAsync("all processes rest, and read one total", s_limit, () => cluster.Members.All(one => one.Belief is { Rests: true, Total: { } read } && read == cluster.Members[0].Belief.Total) && AreTogether(Cluster.Size));
        long total = cluster.Members[0].Belief.Total!.Value;
        long acknowledged = _acknowledged + cluster.Members.Sum(static one => one.Belief.Acknowledged), unknown = _unknown + cluster.Members.Sum(static one => one.Belief.Unknown);
        screen.Tell($"All rest. {acknowledged} additions were acknowledged, of {unknown} the outcome is unknown; the process that was killed had begun at most {_untold} more.");
        if (total < acknowledged) throw new RunFailedException($"{acknowledged - total} additions that were acknowledged are lost");
        if (total > acknowledged + unknown + _untold) throw new RunFailedException($"{total - acknowledged - unknown - _untold} more were added than can have been");
    }

    /// <summary>Whether as many processes are in one view, and answer.</summary>
    private bool AreTogether(int count) =>
        cluster.Members.All(one => one.Belief is { State: "Active", Total: not null } belief && belief.Members.Count == count && belief.View == cluster.Members[0].Belief.View);

    private Belief BeliefOf(int machine) => cluster.Members[machine - 1].Belief;

    private long AcknowledgedBy(int[] machines) => machines.Sum(machine => BeliefOf(machine).Acknowledged);
}
