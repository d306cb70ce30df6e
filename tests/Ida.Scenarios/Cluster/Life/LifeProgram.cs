using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Workload;

namespace Ida.Scenarios;

/// <summary>
/// The program of a process, as in production: it starts its node, joins, enables the DHT, calls, leaves now and then, and is restarted at the same address whenever it has ended
/// and its machine is on.
/// </summary>
internal sealed class LifeProgram(LifeCluster cluster, int number)
{
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(50), s_longestRest = TimeSpan.FromSeconds(10);
    private readonly Prng _random = cluster.Simulation.Random.Fork();
    private SimMember? _member;
    private int _lives;

    public LifeStage Stage { get; private set; }

    public int Number => number;

    public Group? Group { get; private set; }

    public Dht? Dht { get; private set; }

    public SimMember Member => _member!;

    /// <summary>The history of the DHT that it serves in.</summary>
    public LifeHistory? History { get; private set; }

    public bool IsServing => Stage == LifeStage.Serves && Member is { Node.State: MembershipState.Active, Host.Alive: true } && !Dht!.Completion.IsCompleted;

    public bool Serves(Dht dht) => Dht == dht && IsServing;

    public async Task RunAsync()
    {
        while (!cluster.IsOver)
        {
            try
            {
                await LiveAsync();
            }
            catch (CrashedException)
            {
                cluster.Draw(LifeNames.Again);
            }
            catch (Exception error) when (MayEnd(error))
            {
                if (error is ClusterUnreachableException) cluster.Draw(LifeNames.Unreached);
            }
            if (cluster.IsOver) return;
            Become(LifeStage.Rests);
            if (Member.Host.Alive && Member.Node is { } node) await UntilAsync(Begin(CallKind.Stop, _ => node.DisposeAsync().AsTask()));
            await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(Math.Exp(_random.NextDouble() * Math.Log(s_longestRest.TotalMilliseconds))));
            while (cluster.IsDown(number)) await cluster.Simulation.Delay(s_look);
        }
    }

    /// <summary>Asks for the outcome of another program's put.</summary>
    public void Resolve(HistoryClient client, HistoryWrite write) => cluster.Resolving.Add(cluster.Simulation.Spawn(() => UntilAsync(client.ResolveAsync(write))));

    private async Task LiveAsync()
    {
        Become(LifeStage.Starts);
        (Group, Dht) = (null, null);
        _lives++;
        await AliveAsync(StartAsync);
        Become(LifeStage.Joins);
        Group = await AliveAsync(() => Begin(CallKind.Join, token => Member.Node.JoinAsync("shop", cancellationToken: token).AsTask()));
        Become(LifeStage.Enables);
        Dht = await AliveAsync(() => Begin(CallKind.Enable, token => Group.EnableDhtAsync(LifeCluster.Options, OwnKeys.Declare, token).AsTask()));
        History = cluster.HistoryOf(new(Member.Node.System, Group.CurrentView.Group, Dht.Layer.Incarnation));
        var (dht, history) = (Dht, History);
        var client = new HistoryClient($"p{number}.{_lives}", Member.ToString(), dht, history.Recorder, _random.Fork(), cluster.Workload with { Versions = history.Versions }) { HandOver = write => history.HandOver(this, write), Caller = Member.Host, IsLeaving = IsOver() };
        history.Add(this, dht, client);
        cluster.Held.Watch(Member.ToString(), () => HeldShard.Of(dht.Layer));
        Become(LifeStage.Serves);
        var until = cluster.MayLeave(number) && _random.Chance(0.5) ? cluster.Simulation.Now + (cluster.Length * _random.NextDouble()) : TimeSpan.MaxValue;
        await AliveAsync(() => client.RunAsync(() => cluster.IsOver || (cluster.Simulation.Now >= until && cluster.IsTroubled)));
        if (cluster.IsOver) return;
        if (Member.Node.State == MembershipState.Excluded) cluster.Draw(LifeNames.Excluded);
        if (IsServing) await LeaveAsync();
    }

    private Task StartAsync()
    {
        var token = GiveUp(CallKind.Start);
        if (_member is not null) return _member.RestartAsync(cluster.Calls, new(), token);
        var start = cluster.Nodes.StartAsync(cluster.Calls, null, cluster.Without, token: token);
        _member = cluster.Nodes.Members[^1];
        return start;
    }

    // Half of the time it leaves just before a fault hits it.
    private async Task LeaveAsync()
    {
        if (_random.Chance(0.5) && cluster.UntilFault(number) is { } time)
            await cluster.Simulation.Delay(TimeSpan.FromTicks(Math.Max(0, (time - TimeSpan.FromMilliseconds(Math.Exp(_random.NextDouble() * Math.Log(50)))).Ticks)));
        if (!IsServing) return;
        Become(LifeStage.Leaves);
        string what = _random.Next(3) switch { 0 => LifeNames.Close, 1 => LifeNames.Leave, _ => LifeNames.Stop };
        cluster.Draw(what);
        await AliveAsync(() => what switch
        {
            LifeNames.Close => Begin(CallKind.Close, token => Dht!.CloseAsync(token).AsTask()),
            LifeNames.Leave => Begin(CallKind.Leave, token => Group!.LeaveAsync(token).AsTask()),
            _ => Begin(CallKind.Stop, _ => Member.Node.DisposeAsync().AsTask()),
        });
    }

    private T Begin<T>(CallKind kind, Func<CancellationToken, T> call) where T : Task
    {
        var token = GiveUp(kind);
        return cluster.Calls.Begin(kind, Member.ToString(), () => call(token), Member.Host, bound: null, IsOver(), token: token);
    }

    /// <summary>The member's status, asked for through the ledger of calls.</summary>
    public Task<DhtStatus> StatusAsync() => Begin(CallKind.Status, token => Dht!.StatusAsync(token));

    public Task<LocalSlice> SnapshotAsync(Func<Task<LocalSlice>> snapshot) => Begin(CallKind.Snapshot, _ => snapshot());

    // Tells of the node, group and DHT of this moment, even if it is called in a later life.
    private Func<bool> IsOver()
    {
        var (life, node, group, dht) = (Member.Host, Member.Node, Group, Dht);
        return () => node is { Completion.IsCompleted: true } || group is { Completion.IsCompleted: true } || dht is { Completion.IsCompleted: true } || (Stage == LifeStage.Leaves && Member.Host == life);
    }

    /// <summary>The token of a call, of which some are given up before or during it: a start, a join, an enabling, the wait for the end of a leave.</summary>
    private CancellationToken GiveUp(CallKind kind)
    {
        if (!LifeNames.Given.Contains(kind) || !cluster.MayGiveUp(number)) return default;
        // Few programs leave, so their calls are given up more often.
        bool leaves = kind is CallKind.Leave or CallKind.Close;
        if (!_random.Chance(leaves ? 0.6 : 0.3)) return default;
        if (_random.Chance(leaves ? 0.5 : 0.3))
        {
            cluster.Draw(LifeNames.GivenUpBefore(kind));
            return new(canceled: true);
        }
        cluster.Draw(LifeNames.GivenUp(kind));
        return new CancellationTokenSource(TimeSpan.FromMilliseconds(Math.Exp(_random.NextDouble() * Math.Log(2_000))), cluster.Simulation.TimeProvider).Token;
    }

    private void Become(LifeStage stage) => Stage = stage;

    private async Task<T> AliveAsync<T>(Func<Task<T>> call)
    {
        Task<T>? called = null;
        await AliveAsync((Func<Task>)(() => called = call()));
        return await called!;
    }

    // A program whose process has crashed makes no more calls.
    private async Task AliveAsync(Func<Task> call)
    {
        if (Stage != LifeStage.Starts && Member.Host.Life == CallerLife.Lost) throw new CrashedException();
        if (!await UntilAsync(call())) throw new CrashedException();
    }

    // Calls at a crashed node are never answered; a node that ends in another way answers all of them.
    private async Task<bool> UntilAsync(Task call)
    {
        var life = Member.Host;
        for (int left = 20; !call.IsCompleted && left > 0;)
        {
            await cluster.Simulation.Delay(s_look);
            if (!life.Alive) left--;
        }
        // A crash shows as a stopped node; a call that ended in another way before the crash is still judged.
        if (!call.IsCompleted || (life.Life == CallerLife.Lost && call.Exception?.InnerException is NodeStoppedException)) return false;
        await call;
        return life.Life != CallerLife.Lost;
    }

    /// <summary>
    /// Whether a start, a join, an enabling or a leave may end with this error while anything may fail. The ledger judges whether the guide names the error for the call. Fewer
    /// are allowed here than the guide names, since nobody takes an address, no turn throws, no queue fills up, and a node is stopped only by its own program, or by its exclusion, of which its
    /// program may hear only from its next call.
    /// </summary>
    private bool MayEnd(Exception error) => error is OperationCanceledException ? Stage != LifeStage.Serves : Stage switch
    {
        LifeStage.Starts => error is ClusterUnreachableException or ExcludedException,
        LifeStage.Joins => error is JoinTimeoutException or JoinRefusedException or NotMemberException or ExcludedException || (error is NodeStoppedException && Member.Node.State == MembershipState.Excluded),
        LifeStage.Enables => error is NotDhtMemberException or DhtNotFoundedException or ViewUnavailableException or ShardDepopulatedException,
        LifeStage.Leaves => error is NotMemberException or ExcludedException,
        _ => false,
    };

    private sealed class CrashedException : Exception;
}
