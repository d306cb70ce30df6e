using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;

namespace Ida.Testing;

/// <summary>One life of a simulated node; <see cref="Restart"/> makes a new one, with a new id.</summary>
/// <remarks>
/// <see cref="SimCluster"/> makes nodes, and attaches the protocols before a node's first turn.
/// A turn is the turn of production: frames, commands, timers, end of turn, one write per peer, completions.
/// </remarks>
public sealed partial class SimNode : ICaller
{
    // Smaller than in production: callers meet a full queue sooner, and a thousand nodes cost little.
    private const int CommandCapacity = 1024;
    private readonly SimClock _clock;
    private readonly Node _node;
    private Choices _choices, _order;
    private bool _turnScheduled, _roused, _inTurn, _midTurn, _crashing, _crashed, _crashAnswers, _silent, _unended, _thaws;
    private long _pauseInTurn, _midTurnUntil, _heldUntil, _heldFor;
    private Exception? _fault;
    private int _framesOfTurn;
    private Func<SimNode, FrameSent, CrashMoment>? _watch;
    private long _timerAt = long.MaxValue;
    private long _busyUntil;
    private double _slowFactor = 1;

    internal SimNode(Simulation simulation, SimHost host, string? without)
    {
        (Simulation, Host) = (simulation, host);
        ulong life = (ulong)host.Lives++;
        Name = life == 0 ? host.Name : $"{host.Name}.{life}";
        Address = new(host.Address);
        ScheduleSeed = Choices.Seed(simulation.Seed, (ulong)host.Index, life);
        _choices = new(Choices.Seed(ScheduleSeed, 1, 0));
        var own = new Choices(Choices.Seed(ScheduleSeed, 2, 0));
        _order = new(Choices.Seed(ScheduleSeed, 4, 0));
        _borrowing = new(Choices.Seed(ScheduleSeed, 6, 0));
        double drift = simulation.Options.MaxClockDrift * (own.UpTo(2_000_000) - 1_000_000) / 1_000_000.0;
        _clock = new(own.UpTo(SimTime.Nanoseconds(simulation.Options.MaxClockOffset)), drift);
        var protocol = new Choices(Choices.Seed(ScheduleSeed, 3, 0));
        ulong start = protocol.Next();
        Id = simulation.Options.IsSecure ? SimCredentials.Of(Address).Identity.IdOf(start) : start | 1;
        _node = new(Id, protocol.Next(), new SimHostPort(this), node => (Carrier = simulation.Options.Carrier == SimCarrier.Mesh ? new MeshCarrier(this, node, start) : new SimLinks(this, node)).Links, CommandCapacity, without);
        _node.Counters.ThrowsForbidden = true;
        _node.Advance(_clock.Local(simulation.Time));
    }

    /// <summary>What protocols are attached to.</summary>
    internal INode Node => _node;

    /// <summary>Its name: the one given, followed by the number of the life from the second life on.</summary>
    public string Name { get; }

    /// <summary>Where it listens: 10.x.y.z:7700, over the mesh 127.x.y.z:7700, by the order of the nodes.</summary>
    public NodeAddress Address { get; }

    /// <summary>The id of this life.</summary>
    public ulong Id { get; }

    /// <summary>False after <see cref="Crash"/>.</summary>
    public bool Alive { get; private set; } = true;

    CallerLife ICaller.Life => Life;

    // The time for which it was paused has passed on its clock, but for none of its turns.
    TimeSpan ICaller.Clock => TimeSpan.FromTicks((LocalTime - (_heldFor - Math.Max(0, _heldUntil - Simulation.Time))) / TimeSpan.NanosecondsPerTick);

    /// <summary>What has become of it, for the calls that were made in it.</summary>
    internal CallerLife Life => Alive ? CallerLife.GoesOn : _crashed ? CallerLife.Lost : CallerLife.Over;

    /// <summary>How many times longer than usual its turns take; 1 is ordinary speed.</summary>
    public double SlowFactor
    {
        get => _slowFactor;
        set => _slowFactor = value is >= 0 and <= 1e9 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A factor of turn time is in 0..1e9.");
    }

    /// <summary>The share by which its clock is fast (negative: slow), at most one half.</summary>
    public double ClockDrift
    {
        get => _clock.Drift;
        set
        {
            if (value is not (>= -0.5 and <= 0.5)) throw new ArgumentOutOfRangeException(nameof(value), value, "A clock drift is a share in -0.5..0.5.");
            _clock.SetDrift(Simulation.Time, value);
            ScheduleTimer();
        }
    }

    /// <summary>Share of its writes to sockets that arrive with a bit flipped: for a node that the others cannot trust.</summary>
    internal double Damage { get; set; }

    /// <summary>
    /// Sets its clock forward, or back. The node never sees a time before one that it has seen, so after a step back its time, and its timers with it, stand still until the
    /// clock has caught up.
    /// </summary>
    internal void StepClock(TimeSpan by)
    {
        _clock.Step(Simulation.Time, SimTime.Nanoseconds(by));
        ScheduleTimer();
    }

    /// <summary>What it keeps while it lives.</summary>
    internal KeptState Kept => new(_node.CommandsWaiting, _node.Timers, Carrier.Timers, Carrier.Sockets, [.. Carrier.Uses], Carrier.Backlog.Bytes, Carrier.Backlog.CallBytes, Carrier.SlabBytes, Carrier.EncodingBytes);

    internal Simulation Simulation { get; }
    internal SimHost Host { get; }
    internal ISimCarrier Carrier { get; private set; } = null!;

    /// <summary>Its links in memory, for tests that look into them.</summary>
    internal SimLinks Links => (SimLinks)Carrier;
    internal ulong ScheduleSeed { get; }
    internal long PausedUntil { get; private set; }

    // Until when nothing of it runs: neither turns nor completions.
    private long FrozenUntil => Math.Max(PausedUntil, _midTurn ? _midTurnUntil : 0);

    /// <summary>What its clock shows.</summary>
    internal long LocalTime => _clock.Local(Simulation.Time);

    /// <summary>
    /// Ends this life between two turns. What is on its way arrives up to a random frame of each link. With <paramref name="hostAnswers"/>
    /// peers get a reset and are refused from then on; without, they hear nothing more, as when the machine is gone.
    /// </summary>
    public void Crash(bool hostAnswers = true)
    {
        if (!Alive) return;
        if (_inTurn) (_crashing, _crashAnswers) = (true, hostAnswers);
        else Die(hostAnswers);
    }

    /// <summary>Ends this life as a program does that stops its node: whoever waits for a call is told, unlike after a crash.</summary>
    internal void Stop()
    {
        if (Alive) Die(hostAnswers: true, _callersFault is { } fault ? new NodeFaultedException(fault) : new NodeStoppedException("The node was stopped."));
    }

    /// <summary>
    /// Makes one of its next turns throw, as a wrong protocol does: this life ends as the loop of production ends it. Calls that wait end with
    /// <see cref="NodeFaultedException"/> with <paramref name="fault"/> in it; peers get a reset, without what the turn would have sent.
    /// </summary>
    internal void FaultInTurn(TurnPlace place, Exception fault)
    {
        if (_inTurn) throw new InvalidOperationException($"{Name} is in a turn.");
        if (!Alive || _fault is not null) return;
        _fault = fault;
        if (place == TurnPlace.Command) NodePosting.Post(_node, new ActionCommand(() => throw fault));
        else if (place == TurnPlace.Timer) _node.SetTimer(_node.Now, new ThrowingStep(fault), 0);
        else
        {
            _node.AtEndOfTurn(new ThrowingStep(fault));
            _unended = true;
        }
        ScheduleTurn();
    }

    /// <summary>
    /// Asks about each frame this life hands to its links, so that a crash can be put exactly at a step of a protocol: frames handed over before the crash arrive, later ones
    /// do not.
    /// </summary>
    internal void WatchFrames(Func<SimNode, FrameSent, CrashMoment> watch) => _watch = watch;

    /// <summary>Whether frames are asked about.</summary>
    internal bool IsWatched => _watch is not null;

    /// <summary>To how many of its receivers a frame goes: to all, unless the node crashes at it.</summary>
    internal int MaySend(ReadOnlySpan<byte> frame, int receivers)
    {
        if (_silent) return 0;
        if (_watch is null || !_inTurn || !FrameHeader.TryRead(frame, out var header)) return receivers;
        var moment = _watch(this, new(header.Type, frame[FrameHeader.Size..]));
        if (moment == CrashMoment.None) return receivers;
        _silent = true;
        Crash();
        return moment switch
        {
            CrashMoment.Before => 0,
            CrashMoment.Amid => receivers / 2,
            _ => receivers,
        };
    }

    /// <summary>Takes no turn for a time; what arrives waits. Afterwards the node sees its clock jump.</summary>
    public void Pause(TimeSpan time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.Zero);
        PausedUntil = Math.Max(PausedUntil, Simulation.Time + SimTime.Nanoseconds(time));
        HoldUp(SimTime.Nanoseconds(time));
    }

    /// <summary>
    /// Its next turn stops for a time after it has read its clock and its frames, as if the process were frozen just there. What callers ask for meanwhile runs in the rest of
    /// that turn, under the time at its beginning.
    /// </summary>
    public void PauseInTurn(TimeSpan time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.Zero);
        _pauseInTurn = Math.Max(_pauseInTurn, SimTime.Nanoseconds(time));
        ScheduleTurn();
    }

    /// <summary>A new life at the same address, with a new id and nothing of the old state; crashes the node first if it lives.</summary>
    public SimNode Restart()
    {
        if (Host.Node != this) throw new InvalidOperationException($"{Name} is not the latest life at {Address}.");
        if (_inTurn) throw new InvalidOperationException($"{Name} cannot restart inside its own turn.");
        Crash();
        Host.Answers = true;
        return Simulation.NewLife(Host, _node.Without);
    }

    /// <summary>Runs <paramref name="action"/> inside a coming turn of this node, when its command queue has room; not at all if it dies first.</summary>
    internal void Post(Action action)
    {
        ArgumentNullException.ThrowIfNull(action);
        if (Alive && !_node.TryPost(new ActionCommand(action))) Simulation.After(TimeSpan.FromMilliseconds(1), () => Post(action));
    }

    /// <summary>Name and address.</summary>
    public override string ToString() => $"{Name} ({Address})";

    /// <summary>A number from <paramref name="first"/> up to, not including, <paramref name="end"/>.</summary>
    internal int Choose(int first, int end) => first + (int)_order.UpTo(end - first - 1);

    private long NextTimer => Math.Min(_node.NextTimer, Carrier.NextTimer);

    internal long VirtualTime(long local) => _clock.Virtual(local);

    internal void Wake()
    {
        if (!_inTurn) ScheduleTurn();
    }

    /// <summary>
    /// A caller wakes the owner of the loop, or keeps it from going to sleep: until the owner's turn, callers run only commands that may need no message. Arrivals wake nobody
    /// at once.
    /// </summary>
    internal void Rouse()
    {
        _roused = true;
        Wake();
    }

    internal void ScheduleTurn()
    {
        if (_turnScheduled || !Alive) return;
        _turnScheduled = true;
        long wake = _choices.UpTo(SimTime.Nanoseconds(Simulation.Options.MaxWakeDelay));
        Simulation.Events.Add(Math.Max(Simulation.Time + wake, _busyUntil), SimEventKind.Turn, this);
    }

    internal void Handle(SimEventKind kind)
    {
        if (!Alive) return;
        if (kind == SimEventKind.Turn) TurnDue();
        else TimerDue();
    }

    private void TimerDue()
    {
        if (Simulation.Time < _timerAt) return;
        _timerAt = long.MaxValue;
        if (NextTimer <= _node.Clock()) ScheduleTurn();
        else ScheduleTimer();
    }

    private void TurnDue()
    {
        _turnScheduled = false;
        if (PausedUntil > Simulation.Time)
        {
            _turnScheduled = _thaws = true;
            Simulation.Events.Add(PausedUntil, SimEventKind.Turn, this);
            return;
        }
        if (!_midTurn && _busyUntil > Simulation.Time)
        {
            // A caller has the node.
            _turnScheduled = true;
            Simulation.Events.Add(_busyUntil, SimEventKind.Turn, this);
            return;
        }
        bool thaws = _thaws;
        _thaws = false;
        if (thaws && _node.HasCommands && !_midTurn && _callersFault is null && TryRunCallersTurn(null, out _))
        {
            ScheduleTurn();
            return;
        }
        _roused = false;
        _inTurn = true;
        bool faulted = false;
        try
        {
            if (_midTurn) _midTurn = false;
            else BeginTurn();
            if (!_midTurn) FinishTurn();
        }
        catch (Exception error) when (ReferenceEquals(error, _fault))
        {
            faulted = true;
        }
        finally
        {
            _inTurn = false;
        }
        if (_crashing) Die(_crashAnswers);
        else if (faulted) Die(hostAnswers: true, new NodeFaultedException(_fault!));
        if (!Alive || _midTurn) return;
        Rest(roused: false);
    }

    private void BeginTurn()
    {
        _node.Advance(LocalTime);
        ThrowCallersFault();
        _framesOfTurn = Carrier.Deliver(1 + (int)_choices.UpTo(Simulation.Options.MaxBatch - 1));
        if (_pauseInTurn == 0) return;
        _midTurn = _turnScheduled = true;
        _midTurnUntil = Simulation.Time + _pauseInTurn;
        Simulation.Events.Add(_midTurnUntil, SimEventKind.Turn, this);
        HoldUp(_pauseInTurn);
        _pauseInTurn = 0;
    }

    private void HoldUp(long time)
    {
        long until = Math.Max(_heldUntil, Simulation.Time + time);
        _heldFor += until - Math.Max(_heldUntil, Simulation.Time);
        _heldUntil = until;
    }

    private void FinishTurn()
    {
        var options = Simulation.Options;
        int frames = _framesOfTurn;
        int commands = _node.RunCommands(1 + (int)_choices.UpTo(options.MaxBatch - 1));
        int timers = _node.FireTimers();
        if (frames + commands + timers > 0 || _unended) _node.EndTurn();
        _unended = false;
        Simulation.Trace.Add((ulong)frames ^ ((ulong)commands << 20) ^ ((ulong)timers << 40));
        TakeTime(frames + commands);
        Carrier.Flush(_busyUntil);
        _node.Release();
    }

    private void TakeTime(int steps)
    {
        var options = Simulation.Options;
        _busyUntil = Simulation.Time + (long)(SimTime.Nanoseconds(options.TurnTime + options.FrameTime * steps) * _slowFactor);
    }

    private void ScheduleTimer()
    {
        long due = NextTimer;
        if (due == long.MaxValue) return;
        long at = due <= _node.Now ? Simulation.Time : Math.Max(_clock.Virtual(due), Simulation.Time);
        if (at >= _timerAt) return;
        _timerAt = at;
        Simulation.Events.Add(at, SimEventKind.Timer, this);
    }

    private void Die(bool hostAnswers, NodeStoppedException? told = null)
    {
        Alive = false;
        _crashed = told is null;
        Host.Answers = hostAnswers;
        Carrier.Die(hostAnswers, atFrame: _silent);
        // What a caller's turn threw is a fault of the protocol, even if a crash comes before the turn that would have ended the node with it.
        if (_callersFault is { } lost && !ReferenceEquals(lost, _fault)) Simulation.Fail(lost);
        _callersFault = null;
        if (told is not null) _node.Stop(told);
        else _node.Refuse(new NodeStoppedException($"{Name} crashed."));
    }
}
