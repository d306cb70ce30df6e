using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Checking;
using Ida.Testing.Workload;

namespace Ida.Scenarios;

/// <summary>A cluster whose members all hold a part of one DHT and run a recording client each.</summary>
internal sealed class DhtCluster
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(30);
    private readonly SimCluster _cluster;
    private readonly HistoryWorkload _workload;
    private readonly Dictionary<SimMember, Dht> _dhts = [];
    private readonly Dictionary<SimMember, Group> _groups = [];
    private readonly DhtOptions _options;
    private bool _stop;

    public DhtCluster(Simulation simulation, HistoryWorkload? workload = null, int shardSize = 2, int targetSize = 4)
    {
        _cluster = new(simulation);
        _workload = workload ?? new();
        _options = new() { ShardSize = shardSize, TargetSize = targetSize };
        Recorder = new(clock: () => simulation.Now.Ticks * 100);
    }

    public HistoryRecorder Recorder { get; }

    public Simulation Simulation => _cluster.Simulation;

    public IReadOnlyList<SimMember> Members => _cluster.Members;

    public List<HistoryClient> Clients { get; } = [];

    /// <summary>Joins that ended with a typed error.</summary>
    public int Refused { get; private set; }

    /// <summary>Whether a shard or the primary partition was lost to the faults: then there is no final state to compare.</summary>
    public bool Lost { get; private set; }

    /// <summary>What each node is started with.</summary>
    public IdaNodeOptions NodeOptions { get; init; } = new();

    /// <summary>A rule that all nodes do without.</summary>
    public Rule Without { get; init; }

    /// <summary>Told of each node as soon as it is registered.</summary>
    public Action<SimMember>? Started { get; init; }

    public Dht this[int member] => _dhts[Members[member]];

    public Group GroupOf(int member) => _groups[Members[member]];

    /// <summary>Starts members, enables the DHT at all of them, runs <paramref name="body"/> beside one client each, then judges.
    /// With <paramref name="voters"/>, so many nodes are started before, for the Oracle only.</summary>
    public CheckReport Run(int members, Func<Task> body, int voters = 0)
    {
        Simulation.RunAsync(async () =>
        {
            for (int i = 0; i < voters; i++) await StartAsync();
            var enabling = new List<Task>();
            for (int i = 0; i < members; i++) enabling.Add(await AddAsync());
            await Task.WhenAll(enabling);
            var running = StartClients();
            await body();
            _stop = true;
            Simulation.Network.Heal();
            await Task.WhenAll(running);
            await SettleAsync();
        }, Limit);
        return StrictSerializabilityChecker.Check(Recorder.ToHistory());
    }

    /// <summary>Starts one more member; the task it returns ends when it holds its part.</summary>
    public async Task<Task> AddAsync()
    {
        var member = await StartAsync();
        var group = await member.Node.JoinAsync("shop");
        _groups[member] = group;
        return EnableAsync(member, group);
    }

    private async Task<SimMember> StartAsync()
    {
        var member = await _cluster.StartAsync(NodeOptions, Without);
        Started?.Invoke(member);
        return member;
    }

    /// <summary>A member more, as soon as the faults let it in; none when the primary partition has gone.</summary>
    public void Join() => _ = Simulation.Spawn(async () =>
    {
        try
        {
            await await AddAsync();
        }
        catch (Exception error) when (error is ClusterUnreachableException or PoisonedException or NotMemberException or DhtException or JoinRefusedException)
        {
            Refused++;
        }
    });

    private async Task EnableAsync(SimMember member, Group group) => _dhts[member] = await group.EnableDhtAsync(_options, HistoryWorkload.Register);

    private List<Task> StartClients()
    {
        var running = new List<Task>();
        foreach (var (member, dht) in _dhts)
        {
            var client = new HistoryClient($"c{Clients.Count}", member.ToString(), dht, Recorder, Simulation.Random.Fork(), _workload);
            Clients.Add(client);
            running.Add(Simulation.Spawn(() => Lives(member, client.RunAsync(() => _stop))));
        }
        return running;
    }

    // What a crashed node was asked is never answered.
    private async Task Lives(SimMember member, Task client)
    {
        while (!client.IsCompleted && member.Host.Alive) await Simulation.Delay(TimeSpan.FromMilliseconds(10));
        if (client.IsCompleted) await client;
    }

    private async Task SettleAsync()
    {
        // A member that lost contact is back, or has given up its membership, within the poison time-out.
        for (int round = 0; round < 1_000; round++)
        {
            await Simulation.Delay(TimeSpan.FromMilliseconds(100));
            if (Serving().All(pair => pair.Key.Node.State == MembershipState.Active) && await AllFullAsync()) break;
        }
        await Simulation.Delay(TimeSpan.FromSeconds(2));
        Lost = !Serving().Any();
        if (Lost) return;
        int full = 0;
        foreach (var (member, dht) in Serving())
            if (await FinalStateReader.RecordAsync(member.ToString(), dht, Recorder)) full++;
        Assert.True(full >= _options.TargetSize / _options.ShardSize, $"{full} full replicas at the end");
    }

    private IEnumerable<KeyValuePair<SimMember, Dht>> Serving() =>
        _dhts.Where(pair => pair.Key.Host.Alive && !pair.Value.Completion.IsCompleted && !pair.Key.Node.Completion.IsCompleted);

    private async Task<bool> AllFullAsync()
    {
        foreach (var (_, dht) in Serving())
        {
            var status = await dht.StatusAsync();
            if (status.OwnSlot >= 0 && !status.IsFull) return false;
        }
        return true;
    }
}
