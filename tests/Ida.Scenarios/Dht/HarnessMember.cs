using System.Buffers;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>One process: a real node without links, a group port onto the world's channels, and the DHT.</summary>
internal sealed class HarnessMember : IGroupPort, IHostPort, IStopListener, ICaller
{
    private readonly DhtWorld _world;
    private readonly Node _node;
    private readonly List<ICompletion> _batch = [];
    private bool _touched;
    private byte[] _room = new byte[1024];
    // What the next Send may send of it; below 0: nothing is reserved.
    private int _reserved = -1;

    public HarnessMember(DhtWorld world, int index, ulong seed)
    {
        (_world, Index) = (world, index);
        Self = new((ulong)index + 1, (ulong)index + 1);
        _node = new(Self.Node, seed, this, _ => new NoLinks(), without: world.Without);
        _node.Advance(world.Now);
        _node.AtStop(this);
        Host = new(this);
    }

    public int Index { get; }

    public DhtHost Host { get; }

    public Dht Dht { get; private set; } = null!;

    public bool Alive { get; set; } = true;

    /// <summary>A turn of it threw, and its callers were told.</summary>
    public bool Faulted { get; private set; }

    /// <summary>Removed from the view while it lives.</summary>
    public bool Excluded { get; set; }

    /// <summary>What its callers may still hear.</summary>
    public CallerLife Life => Alive ? CallerLife.GoesOn : Excluded || Faulted ? CallerLife.Over : CallerLife.Lost;

    // Time for which user code kept its turns does not count for its calls.
    public TimeSpan Clock => TimeSpan.FromTicks((_world.Now + Skew - (StalledFor - Math.Max(0, StalledUntil - _world.Now))) / TimeSpan.NanosecondsPerTick);

    /// <summary>Whether its part in the DHT is over. Not while it leaves: until another has what it holds, it orders and answers as before.</summary>
    public bool IsPartOver => Life != CallerLife.GoesOn || Host.Current is null or { IsOver: true };

    /// <summary>Its DHT has let it leave the group.</summary>
    public bool Left { get; private set; }

    public bool Lease { get; set; } = true;

    /// <summary>When it has its lease again, after it lost it.</summary>
    public long LeaseFrom { get; set; }

    /// <summary>How far its clock is ahead, in nanoseconds.</summary>
    public long Skew { get; set; }

    /// <summary>User code keeps its turn until then: nothing is delivered to it, and nothing runs in it.</summary>
    public long StalledUntil { get; private set; }

    /// <summary>How long user code has kept its turns in all, in nanoseconds.</summary>
    public long StalledFor { get; private set; }

    /// <summary>How long it has been frozen since its turn began, in nanoseconds.</summary>
    public long FrozenInTurn { get; set; }

    public ProcessId Self { get; }

    public INode Node => _node;

    public Node Inner => _node;

    public View? View { get; set; }

    public int Rank => View?.RankOf(Self) ?? -1;

    public bool Wedged { get; set; }

    public bool HoldsLease => Lease && !IsBlocked && _world.Now >= LeaseFrom;

    /// <summary>It has no contact with the primary partition, for a time or until the next view that it takes part in.</summary>
    public bool IsBlocked { get; private set; }

    private long _blockedUntil;

    public bool InView => Alive && !Excluded && View is not null;

    public Dht Enable(DhtOptions options, Action<DhtMaps> declare)
    {
        var maps = new DhtMaps();
        declare(maps);
        var declared = maps.Seal(options);
        _node.Advance(_world.Now + Skew);
        Dht = Host.Enable(options, declared, options.Member.ClockOffset(_node));
        if (_world.MostLostBytes is { } most) Host.Current!.Participant.Admission.MostLostBytes = most;
        Host.Current!.Coordinator.Puts.GivenFrom = _world.GivenFrom;
        _node.Release();
        return Dht;
    }

    public void Turn(Action step)
    {
        _node.Advance(_world.Now + Skew);
        _world.Running = this;
        step();
        _node.RunCommands(1024);
        _node.FireTimers();
        // A group calls its layer at the end of a turn only when something passed through the group in it.
        if (_touched) Host.EndOfTurn();
        _touched = false;
        _node.Release();
        _world.Running = null;
    }

    /// <summary>A turn throws, before or after what is queued for it: this member ends as a node of production does.</summary>
    public void Fault(Exception fault, bool first)
    {
        if (!first) _node.SetTimer(_node.Now, new ThrowingStep(fault), 0);
        try
        {
            Turn(first ? () => throw fault : static () => { });
        }
        catch (Exception error) when (ReferenceEquals(error, fault))
        {
            Faulted = true;
        }
        // Callers that go on as it stops are on this member's thread: none of them may run a turn of it.
        _world.Running = this;
        _node.Stop(new NodeFaultedException(fault));
        _world.Running = null;
    }

    void IStopListener.OnStop(Exception reason) => Host.OnOver(reason);

    public void Deliver(HarnessFrame frame) => Turn(() =>
    {
        _touched = true;
        Host.OnFrame(frame.FromRank, frame.Type, frame.Body);
    });

    public byte[] Contribution()
    {
        var into = new ArrayBufferWriter<byte>();
        Host.Contribute(into);
        return into.WrittenSpan.ToArray();
    }

    public long Room(int rank) => IsHere(rank) ? _world.Room(this, rank) : 0;

    public bool IsHere(int rank) => rank == Rank || _world.IsHere(this, rank);

    /// <summary>The channel to a member has room again, or it has said that it is in the view.</summary>
    public void OnRoom(int rank) => Turn(() =>
    {
        _touched = true;
        Host.OnRoom(rank);
    });

    public Span<byte> Reserve(int size)
    {
        _touched = true;
        ArgumentOutOfRangeException.ThrowIfGreaterThan(size, GroupCore.Transport.LinkLimits.FrameBytes - FrameHeader.Size);
        if (_room.Length < size) _room = new byte[size];
        Array.Clear(_room);
        _reserved = size;
        return _room.AsSpan(0, size);
    }

    public void Send(int rank, FrameType type, int length) => Send([rank], type, length);

    public void Send(ReadOnlySpan<int> ranks, FrameType type, int length)
    {
        Assert.InRange(length, 0, _reserved);
        _reserved = -1;
        foreach (int rank in ranks)
        {
            Assert.NotEqual(Rank, rank);
            _world.Queue(this, rank, new(type, _room.AsSpan(0, length).ToArray(), View!.Id, Rank));
        }
    }

    public void RequestView() => _world.RequestView();

    /// <summary>User code keeps the running turn for that long.</summary>
    public void Stall(TimeSpan time)
    {
        StalledUntil = Math.Max(StalledUntil, _world.Now) + (long)time.TotalNanoseconds;
        StalledFor += (long)time.TotalNanoseconds;
    }

    /// <summary>It loses contact for that long.</summary>
    public void Block(TimeSpan time)
    {
        _blockedUntil = _world.Now + (long)time.TotalNanoseconds;
        SetBlocked(true);
    }

    /// <summary>Contact comes back: at once, or if its time is over.</summary>
    public void Unblock(bool atOnce)
    {
        if (IsBlocked && (atOnce || _world.Now >= _blockedUntil)) SetBlocked(false);
    }

    private void SetBlocked(bool blocked)
    {
        IsBlocked = blocked;
        Turn(() =>
        {
            _touched = true;
            Host.OnBlocked(blocked);
        });
    }

    /// <summary>Begins to leave the group.</summary>
    public void BeginToLeave() => Turn(() =>
    {
        if (Host.OnLeaving()) Leave();
    });

    public void Leave() => Left = _world.ViewRequested = true;

    public void Suspect(int rank, Suspicion evidence) => throw new InvalidOperationException("Nothing of the DHT suspects.");

    long IHostPort.Clock() => Node.Now + FrozenInTurn;

    public void Wake()
    {
        // The world looks for commands itself.
    }

    public void RunCompletions(List<ICompletion> completions)
    {
        // Completions may cause others, so these are copied first, to a list that is reused.
        _batch.AddRange(completions);
        for (int i = 0; i < _batch.Count; i++) _batch[i].Run();
        _batch.Clear();
    }

    public void Resume(ICompletion work) => work.Run();
}
