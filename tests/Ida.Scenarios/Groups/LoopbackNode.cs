using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>
/// A member of a group of fixed members on one thread: its frames go through preallocated byte buffers, its completions run in place,
/// so that whatever is allocated is allocated by the group. Other members are named by their index, which is the peer number too.
/// </summary>
internal sealed class LoopbackNode : IHostPort, ILinks, IMembership
{
    private readonly LoopbackNode[] _all;
    private readonly int _index;
    private readonly Node _node;
    private readonly byte[][] _inbox;
    private readonly int[] _arrived;
    private readonly byte[] _reserved = new byte[LinkLimits.FrameBytes];
    private ICompletion[] _completions = new ICompletion[256];
    private readonly Queue<ICompletion> _resumed = new();
    private IMembershipSink _sink = null!;
    private bool _ran;

    public LoopbackNode(LoopbackNode[] all, int index, int bufferBytes)
    {
        (_all, _index) = (all, index);
        _inbox = new byte[all.Length][];
        for (int from = 0; from < all.Length; from++) _inbox[from] = new byte[bufferBytes];
        _arrived = new int[all.Length];
        _node = new((ulong)index + 1, (ulong)index + 1, this, _ => this);
        _node.Counters.ThrowsForbidden = true;
        Host = new(_node, this, new() { Layers = [DhtFrame.Layer] });
    }

    public GroupHost Host { get; }

    long IHostPort.Clock() => _node.Now;

    public INode Node => _node;

    /// <summary>Bytes allocated in turns of this member, handlers included.</summary>
    public long Allocated { get; private set; }

    public Group Group { get; set; } = null!;

    public ProcessId Self => new((ulong)_index + 1, (ulong)_index + 1);

    public MembershipState State => MembershipState.Active;

    public long LeaseUntil => long.MaxValue;

    /// <summary>Somebody here wants a view with the same members.</summary>
    public bool WantsView { get; set; }

    /// <summary>The last proposal whose flush this member has reported as done; 0 for none.</summary>
    public ulong Flushed { get; private set; }

    /// <summary>The member whose frames do not come yet; -1 for none.</summary>
    public int Late { get; set; } = -1;

    public NodeAddress Local => new($"loop:{_index}");

    /// <summary>One turn at <paramref name="now"/>; whether anything happened.</summary>
    public bool Turn(long now)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        _ran = false;
        _node.Advance(now);
        for (int from = 0; from < _all.Length; from++)
            if (from != Late) Read(from);
        _ran |= _node.RunCommands(int.MaxValue) + _node.FireTimers() > 0;
        if (_ran) _node.EndTurn();
        _node.Release();
        while (_resumed.TryDequeue(out var work)) work.Run();
        Allocated += GC.GetAllocatedBytesForCurrentThread() - before;
        return _ran || _node.HasCommands;
    }

    private void Read(int from)
    {
        int end = _arrived[from];
        if (end == 0) return;
        _ran = true;
        for (int at = 0; at < end;)
        {
            Assert.True(FrameHeader.TryRead(_inbox[from].AsSpan(at), out var header));
            _node.Deliver(from, header, _inbox[from].AsSpan(at + FrameHeader.Size, header.BodyLength));
            at += (int)header.FrameLength;
        }
        _arrived[from] = 0;
    }

    /// <summary>What has come for it is lost.</summary>
    public void Lose() => Array.Clear(_arrived);

    public void Propose(Proposal proposal)
    {
        _sink.OnPropose(proposal);
        _ran = true;
    }

    public void Install(View view)
    {
        _sink.OnInstall(view);
        _ran = true;
    }

    public int Open(NodeAddress address, ulong nodeId = 0) => Array.FindIndex(_all, n => n.Local == address);

    public Span<byte> Reserve(int size) => _reserved.AsSpan(0, size);

    public Span<byte> Reserved(int size) => _reserved.AsSpan(0, size);

    public void Send(int peer, int length)
    {
        ref int at = ref _all[peer]._arrived[_index];
        _reserved.AsSpan(0, length).CopyTo(_all[peer]._inbox[_index].AsSpan(at));
        at += length;
    }

    public void Send(ReadOnlySpan<int> peers, int length)
    {
        foreach (int peer in peers) Send(peer, length);
    }

    public void RunCompletions(List<ICompletion> completions)
    {
        int count = completions.Count;
        if (_completions.Length < count) _completions = new ICompletion[count * 2];
        completions.CopyTo(_completions);
        for (int i = 0; i < count; i++) _completions[i].Run();
    }

    public void Resume(ICompletion work) => _resumed.Enqueue(work);

    public void Attach(IMembershipSink sink) => _sink = sink;

    public void Wake()
    {
    }

    public void Join(string name, GroupOptions options, string tag)
    {
    }

    public void Create(string name, GroupOptions options, IReadOnlyList<ProcessId> members) => throw new NotSupportedException();

    public void Leave(GroupId group) => throw new NotSupportedException();

    public void RequestView(GroupId group) => WantsView = true;

    public void CompleteView(GroupId group, ulong baseView, ulong proposal, IReadOnlyList<ProcessId> initialised) => Flushed = proposal;

    public void Suspect(ProcessId subject, Suspicion evidence) => throw new NotSupportedException();

    public void Withdraw(ProcessId subject) => throw new NotSupportedException();

    public void Sync(GroupId group, ulong view, ulong proposal) => throw new NotSupportedException();

    public void Close(int peer) => throw new NotSupportedException();

    public void Probe(int peer) => throw new NotSupportedException();

    public ulong NodeIdOf(int peer) => (ulong)peer + 1;

    public NodeAddress AddressOf(int peer) => _all[peer].Local;

    public long Backlog(int peer) => 0;

    public long Room(int peer) => long.MaxValue;

    public bool IsFull => false;

    public TimeSpan TimeToRoom => TimeSpan.Zero;
}
