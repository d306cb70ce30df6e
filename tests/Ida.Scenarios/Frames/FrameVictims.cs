using System.Globalization;
using GroupCore.Groups;
using GroupCore.Hosting;
using GroupCore.Membership;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using Oracle;

namespace Ida.Scenarios;

/// <summary>
/// A small system of real nodes on the loopback: three honest ones in a group with a DHT; one that has left it; and, if one is
/// <paramref name="lying"/>, a fourth member whose outgoing frames are damaged on their way when <see cref="Lies"/> says so.
/// </summary>
/// <remarks>With a <paramref name="key"/> all of them, and those who send frames to them, have credentials, and all bytes go through TLS.</remarks>
internal sealed class FrameVictims(SocketPortKind port, bool lying, Security? key) : IAsyncDisposable
{
    public const string Cluster = "frames";
    public const string GroupName = "lab";
    private const int Honest = 3;
    private const long LongestBlocked = 5_000;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private readonly List<FrameVictim> _members = [];
    private IReadOnlyList<ProcessId> _view = [];
    private HostileName _former = null!;
    private int _checks;

    public static DhtOptions DhtOptions { get; } = new() { ShardSize = 2, TargetSize = 4 };

    /// <summary>The honest ones; <see cref="Hostile"/> is not among them.</summary>
    public IReadOnlyList<FrameVictim> Members => _members;

    /// <summary>The honest ones that are members of the system and of the group.</summary>
    public IReadOnlyList<FrameVictim> Standing =>
        [.. _members.Where(member => member.Node.State == MembershipState.Active && !member.Node.Completion.IsCompleted && !member.Group.Completion.IsCompleted)];

    /// <summary>The member whose frames are damaged.</summary>
    public FrameVictim? Hostile { get; private set; }

    /// <summary>The links of <see cref="Hostile"/>.</summary>
    public DamagedLinks? Lies { get; private set; }

    /// <summary>The node that was a member and left.</summary>
    public (ProcessId Id, NodeAddress Address) Former { get; private set; }

    public static async Task<FrameVictims> StartAsync(SocketPortKind port, bool lying = false, bool secure = false)
    {
        var system = new FrameVictims(port, lying, secure ? Security.ClusterKey(Security.NewClusterKey()) : null);
        await system.StartAsync();
        return system;
    }

    /// <summary>Under which name one comes who sends hostile frames; <paramref name="drawn"/> makes it a new one.</summary>
    public HostileName NameOf(Persona persona, ulong drawn) => persona == Persona.Former ? _former : HostileName.New(drawn, key?.Open(Cluster));

    public static void Declare(DhtMaps maps) => maps.Map<string, int>("lab");

    /// <summary>
    /// Demands what hostile strangers must not have changed: every node serves, answers and is answered, and its view has the same members as at the start.
    /// Null, or what is wrong.
    /// </summary>
    public async Task<string?> CheckAsync()
    {
        if (await BrokenAsync() is { } broken) return broken;
        int check = ++_checks;
        try
        {
            foreach (var asking in _members)
            {
                var answers = await asking.Group.QueryAsync<int, int>("echo", check, timeout: s_patience);
                if (answers.Count != _members.Count || answers.Any(answer => answer.Value != check)) return $"{answers.Count} of {_members.Count} members answered a query";
            }
            foreach (var putting in _members) await putting.Dht.Map<string, int>("lab").PutAsync(Key(putting), check).AsTask().WaitAsync(s_patience);
            foreach (var key in _members.Select(Key))
                foreach (var getting in _members)
                    if (await getting.Dht.Map<string, int>("lab").GetAsync(key).AsTask().WaitAsync(s_patience) is not { Found: true } got || got.Value != check)
                        return $"{getting.Node.Id} does not find what was put under {key}";
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            return $"{error.GetType().Name}: {error.Message}. {Broken()}";
        }
        foreach (var member in _members)
            if (!member.Group.CurrentView.Members.Select(one => one.Id).SequenceEqual(_view))
                return $"the view of {member.Node.Id} is {string.Join(", ", member.Group.CurrentView.Members)}";
        return await BrokenAsync();
    }

    // A busy machine may block a node for a moment.
    private async Task<string?> BrokenAsync()
    {
        for (long end = Environment.TickCount64 + LongestBlocked; _members.Exists(static member => member.Node.State == MembershipState.Blocked) && Environment.TickCount64 < end;) await Task.Delay(20);
        return Broken();
    }

    /// <summary>A node of which a turn threw, or that is no longer an active member; or null.</summary>
    public string? Broken(bool mayBeExcluded = false)
    {
        foreach (var member in _members)
        {
            if (member.Loop.Fault is { } fault) return $"a turn threw: {fault}";
            if (!mayBeExcluded && (member.Node.State != MembershipState.Active || member.Node.Completion.IsCompleted)) return $"{member.Node.Id} is {member.Node.State}: {member.Node.Completion.Exception?.GetBaseException().Message}";
        }
        return null;
    }

    public async ValueTask DisposeAsync()
    {
        // All at once and without a leave: what is over needs no successor.
        await Task.WhenAll(_members.Append(Hostile).Where(member => member is not null).Select(member => member!.Loop.StopAsync()));
    }

    private static string Key(FrameVictim member) => member.Node.Id.Node.ToString(CultureInfo.InvariantCulture);

    private async Task StartAsync()
    {
        var started = new List<(IdaNode Node, OpenLoopHost Host, Group Group, MarkLog Marks)>();
        for (int i = 0; i < Honest; i++) started.Add(await StartNodeAsync(started.Count > 0 ? started[0].Node : null, lies: false));
        var former = await StartNodeAsync(started[0].Node, lies: false);
        Former = (former.Node.Id, former.Node.Address);
        _former = new(former.Node.Id.Node, former.Host.Loop.StartNumber, former.Host.Credentials);
        await former.Node.DisposeAsync();
        if (lying) started.Add(await StartNodeAsync(started[0].Node, lies: true));
        var dhts = await Task.WhenAll(started.Select(one => one.Group.EnableDhtAsync(DhtOptions, Declare).AsTask())).WaitAsync(s_patience);
        for (int i = 0; i < started.Count; i++)
        {
            var victim = new FrameVictim(started[i].Node, started[i].Host, started[i].Group, dhts[i], started[i].Marks);
            if (i < Honest) _members.Add(victim);
            else Hostile = victim;
            await victim.Dht.WhenInitialisedAsync().WaitAsync(s_patience);
        }
        if (Hostile is not null) return;
        // The last views may still be on their way to some.
        for (long end = Environment.TickCount64 + (long)s_patience.TotalMilliseconds; Environment.TickCount64 < end && !Settled();)
            await _members[0].Group.FlushAsync();
        _view = [.. _members[0].Group.CurrentView.Members.Select(member => member.Id)];
    }

    private bool Settled() => _members.TrueForAll(member => member.Group.CurrentView is { } view
        && view.Id == _members[0].Group.CurrentView.Id && view.Members.Count == _members.Count && view.Members.All(one => one.Initialised));

    private async Task<(IdaNode Node, OpenLoopHost Host, Group Group, MarkLog Marks)> StartNodeAsync(IdaNode? seed, bool lies)
    {
        string[] seeds = seed is null ? [] : [seed.Address.Text];
        var marks = new MarkLog();
        var host = new OpenLoopHost(new() { Cluster = Cluster, Credentials = key?.Open(Cluster), Port = port, Spin = TimeSpan.Zero, MostMalformed = int.MaxValue }, seeds,
            lies ? inner => new TappedNode(inner, null, Lies = new(inner.Links)) : null);
        // If nobody lies, only what a node is sent may get it excluded, however busy the machine is: so probes are patient.
        var oracle = lying ? new OracleOptions() : new() { ProbeInterval = TimeSpan.FromMilliseconds(500), ProbeRounds = 20 };
        var node = await IdaNode.HostAsync(new() { Cluster = Cluster, Seeds = seeds, Membership = oracle }, host, CancellationToken.None).AsTask().WaitAsync(s_patience);
        var group = await node.JoinAsync(GroupName, g => g.OnQuery<int, int>("echo", static (_, number) => number).Handle<byte[]>("note", static (_, _) => { }).Handle<long>("mark", (from, number) => marks.Add(from.Id, number)),
            new() { StrictPrimary = true }).AsTask().WaitAsync(s_patience);
        return (node, host, group, marks);
    }
}
