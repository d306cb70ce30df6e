using System.Buffers;
using GroupCore.Groups;
using GroupCore.Hosting;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Nodes;

namespace Ida.Process.Tests.Nodes;

/// <summary>Three nodes with a group and a DHT. Two of them can be frozen, so that every call at the first waits.</summary>
internal sealed class FaultWorld : IAsyncDisposable
{
    private const string Name = "g";
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);
    private readonly List<IdaNode> _nodes = [];
    private readonly List<Group> _groups = [];
    private readonly ManualResetEventSlim _thawed = new();
    private readonly TaskCompletionSource _without = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Dht[] _dhts = [];
    private readonly ManualResetEventSlim _handled = new();
    private Group _second = null!;

    public IdaNode Node => _nodes[0];

    public Group Group => _groups[0];

    public Dht Dht => _dhts[0];

    public static async Task<FaultWorld> StartAsync(SocketPortKind port)
    {
        var world = new FaultWorld();
        var cancellation = TestContext.Current.CancellationToken;
        var options = new IdaNodeOptions();
        for (int i = 0; i < 3; i++)
        {
            var each = options with { Cluster = "f", Seeds = [.. world._nodes.Select(static node => node.Address.Text)] };
            int member = i;
            world._nodes.Add(await IdaNode.HostAsync(each, new LoopLifeHost(each, port), cancellation));
            world._groups.Add(await world._nodes[i].JoinAsync(Name, g => g
                .Handle<string>("say", static (_, _) => { })
                .Handle<string>("block", (_, _) => world.Block(member))
                .Handle<byte[]>("bytes", static (_, _) => { })
                .OnQuery<string, string>("ask", static (_, text) => text)
                .OnView(view => world.OnView(member, view)), cancellationToken: cancellation));
        }
        // In this group another member gives the order.
        await world._nodes[1].JoinAsync("second", static g => g.Handle<string>("say", static (_, _) => { }), cancellationToken: cancellation);
        world._second = await world.Node.JoinAsync("second", static g => g.Handle<string>("say", static (_, _) => { }), cancellationToken: cancellation);
        world._dhts = await Task.WhenAll(world._groups.Select(group => group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 3 }, static maps => maps.Map<string, string>("m"), cancellation).AsTask()));
        await Task.WhenAll(world._dhts.Select(dht => dht.WhenInitialisedAsync(cancellation)));
        // As long as the first is the only voter, it excludes the others when they are frozen for a second, as on a busy machine, and then no call waits for them.
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(Bound);
        while (world.Node.Voters.Count < world._nodes.Count) await Task.Delay(10, limit.Token);
        return world;
    }

    /// <summary>
    /// Freezes the others and makes a call of each kind at the first. While the others are frozen none can end, except sends that still find room:
    /// <c>Passing</c> has more of each kind than window and link take together, so that some of each kind wait in any case.
    /// </summary>
    public (List<(string Name, Task Task)> Waiting, ILookup<string, Task> Passing) Fill()
    {
        var cancellation = TestContext.Current.CancellationToken;
        using var frozen = new CountdownEvent(2);
        var freeze = new Work(() =>
        {
            frozen.Signal();
            _thawed.Wait(cancellation);
        });
        // The thread that posts may run it.
        foreach (var group in _groups.Skip(1)) _ = Task.Run(() => group.Protocol.Node.TryPost(freeze), cancellation);
        Assert.True(frozen.Wait(Bound, cancellation));
        var calls = new List<(string, Task)>();
        var map = Dht.Map<string, string>("m");
        byte[] large = new byte[1_000_000];
        string far = FarKey();
        Add("ordered send, not ordered yet", _second.OrderedSendAsync("say", "hello", cancellation).AsTask());
        Add("ordered send, in its handler", Group.OrderedSendAsync("block", "hello", cancellation).AsTask());
        Add("ordered send, behind that handler", Group.OrderedSendAsync("say", "hello", cancellation).AsTask());
        Add("query", Group.QueryAsync<string, string>("ask", "hello", cancellationToken: cancellation).AsTask());
        Add("ordered query", Group.OrderedQueryAsync<string, string>("ask", "hello", cancellationToken: cancellation).AsTask());
        Add("query to one", Group.QueryToAsync<string, string>(1, "ask", "hello", cancellationToken: cancellation).AsTask());
        Add("flush", Group.FlushAsync(cancellation).AsTask());
        Add("join", Node.JoinAsync("other", cancellationToken: cancellation).AsTask());
        Add("views", ReadViewsAsync());
        Add("enable", _second.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 2 }, static maps => maps.Map<string, string>("m"), cancellation).AsTask());
        Add("get", map.GetAsync(far, cancellationToken: cancellation).AsTask());
        Add("put", map.PutAsync(far, "value", cancellationToken: cancellation).AsTask());
        var passing = new List<(string Name, Task Task)>();
        int more = 2 + (int)(Math.Max(GroupLimits.Window, GroupLimits.PeerOutstandingBytes) / large.Length);
        for (int i = 0; i < more; i++) passing.Add(("send", Group.SendAsync("bytes", large, cancellation).AsTask()));
        for (int i = 0; i < more; i++) passing.Add(("send to one", Group.SendToAsync(1, "bytes", large, cancellation).AsTask()));
        return (calls, passing.ToLookup(static send => send.Name, static send => send.Task));

        void Add(string name, Task call) => calls.Add((name, call));
    }

    public void Throw(TurnFault fault) => Throw(Group.Protocol.Node, fault);

    public static void Throw(INode node, TurnFault fault) => Assert.True(node.TryPost(new Work(() =>
    {
        var throwing = new Throwing();
        if (fault == TurnFault.Timer) node.SetTimer(node.Now, throwing, 0);
        else if (fault == TurnFault.EndOfTurn) node.AtEndOfTurn(throwing);
        else Throwing.Throw();
    })));

    public static void Throw(INode node, Exception fault) => Assert.True(node.TryPost(new Work(() => throw fault)));

    public void Thaw() => _thawed.Set();

    /// <summary>Completes when another node has a view without the first.</summary>
    public Task WithoutTheFaultedNode() => _without.Task;

    public async ValueTask DisposeAsync()
    {
        Thaw();
        _handled.Set();
        foreach (var node in _nodes) await node.DisposeAsync();
        _thawed.Dispose();
        _handled.Dispose();
    }

    private void Block(int member)
    {
        if (member == 0) _handled.Wait(TestContext.Current.CancellationToken);
    }

    private void OnView(int member, View view)
    {
        if (member == 1 && _groups.Count == 3 && view.Members.Count == 2) _without.TrySetResult();
    }

    private async Task ReadViewsAsync()
    {
        await foreach (var view in Group.Views(TestContext.Current.CancellationToken))
            Assert.True(view.Id > 0);
    }

    private string FarKey()
    {
        int own = Dht.Layer.State.Shard;
        for (int i = 0; ; i++)
        {
            string key = $"key{i}";
            var bytes = new ArrayBufferWriter<byte>();
            GroupCore.Wire.CanonicalKey.Write(bytes, key);
            if (Dht.Layer.Places.ShardOf(Dht.Layer.Places.Hash(bytes.WrittenSpan)) != own) return key;
        }
    }

    private sealed class Work(Action action) : NodeCommand
    {
        public override void Run() => action();

        public override void Abandon(Exception reason)
        {
        }
    }

    private sealed class Throwing : ITimerTarget, ITurnParticipant
    {
        public static void Throw() => throw new InvalidDataException("on purpose");

        public void OnTimer(long token) => Throw();

        public void EndOfTurn() => Throw();
    }
}
