using GroupCore.Transport;

namespace Ida.Testing;

/// <content>Making and losing connections, with the faults and the pauses of the TCP mesh.</content>
internal sealed partial class SimLinkEnd
{
    private const long Millisecond = 1_000_000;
    private const long ReportPause = 50 * Millisecond;
    private const long FramingPause = 1000 * Millisecond;
    private const long ShortLife = 1000 * Millisecond;
    private const long ForgetAfter = 60_000 * Millisecond;
    private const int RedialGrowth = 5;

    private ulong _expected;
    private bool _opened, _wasOpened, _known;
    private long _vouchedUntil;
    private long _attempt, _probe;
    private bool _dialling, _probing, _dialled, _untold;
    private int _failures, _shortLived;
    private long _upAt;
    private long _helloReceived, _ackReceived;
    private SimEventKind _probeAnswer;
    private long _reportedAt = -ReportPause;

    /// <summary>The id the other end has shown, 0 while unknown.</summary>
    public ulong ShownId => _known ? _expected : 0;

    /// <summary>The id the other end has shown or must show; 0 while any node that answers is meant.</summary>
    public ulong NodeId => _expected;

    /// <summary>The owner asks for the peer, which from now on must be <paramref name="nodeId"/> if any node that answers was meant before.</summary>
    public void Open(ulong nodeId)
    {
        if (_expected == 0) _expected = nodeId;
        // A peer that only dialled in is forgotten when it stays away; one that was asked for is not.
        if (!_wasOpened && Connected && Chance(Model.UnsettledChance))
        {
            IsUnsettled = true;
            Schedule(Choose(SimTime.Nanoseconds(Model.ConnectTimeout)), SimEventKind.Settled, 0);
        }
        _opened = _wasOpened = true;
        if (!Connected && !_dialling && _failures == 0) Dial();
    }

    /// <summary>How often the owner's protocols hold it.</summary>
    public int Holds { get; set; }

    /// <summary>A protocol of the owner holds it no longer.</summary>
    public void Release()
    {
        if (IsOver || --Holds > 0 || !_opened) return;
        (_opened, _failures, _vouchedUntil) = (false, 0, _simulation.Time + ForgetAfter);
        if (!Connected && !_dialling) RedialAfter(ForgetAfter);
    }

    /// <summary>It is now known which node the other end is.</summary>
    public void Settle()
    {
        IsUnsettled = false;
        if (!IsOver) Raise(null);
    }

    private void Dial()
    {
        _attempt++;
        _dialling = true;
        _helloReceived = Session.Received;
        Schedule(Latency(toRemote: true), SimEventKind.DialArrive, _attempt);
        Schedule(SimTime.Nanoseconds(Model.ConnectTimeout), SimEventKind.DialTimeout, _attempt);
    }

    public void Probe()
    {
        if (IsOver || !(_opened || (_wasOpened && Connected))) return;
        _reportedAt = _simulation.Time - ReportPause;
        if (!Connected)
        {
            if (!_dialling) Dial();
            return;
        }
        if (_probing) return;
        _probing = true;
        _probe++;
        Schedule(Latency(toRemote: true), SimEventKind.ProbeArrive, _probe);
        Schedule(SimTime.Nanoseconds(Model.ConnectTimeout), SimEventKind.ProbeTimeout, _probe);
    }

    /// <summary>The owner forgets the peer. What has left still arrives.</summary>
    public void Close()
    {
        if (IsClosed) return;
        IsClosed = true;
        if (!IsOver) Over();
    }

    /// <summary>The link is over for good; what is queued is dropped.</summary>
    public void End(LinkFault fault)
    {
        if (IsOver) return;
        Over();
        Raise(fault);
    }

    /// <summary>After some time the kernel of this end gives up asking whether the other end is there, unless it is by then.</summary>
    public void Ask()
    {
        if (!IsOver && Connected) Schedule(SimHost.UntilUnanswered(Owner, Number), SimEventKind.Unanswered, Epoch);
    }

    private bool IsAnswered => Other is { Connected: true } other && other.Epoch == Epoch && !_simulation.Network.IsCutLong(Owner.Host, other.Owner.Host);

    /// <summary>Resets the connection at both ends.</summary>
    public void Break() => BreakFor(0);

    private void BreakFor(long pause)
    {
        var other = Other;
        Disconnect(pause);
        other?.Disconnect(0);
    }

    private void Over()
    {
        _attempt++;
        _probe++;
        // Also while the answer to the dial is still on its way: the other end is connected by then.
        if (Other is { Connected: true } other) TellOfReset(other);
        (Connected, _dialling, _probing) = (false, false, false);
        Session.Close();
        DropPartial();
        Owner.Links.Acknowledged(this);
    }

    private void Disconnect(long pause)
    {
        if (IsOver || !Connected || !Owner.Alive) return;
        Lose();
        _shortLived = !_opened && _simulation.Time - _upAt < ShortLife ? _shortLived + 1 : 0;
        _failures = Math.Max(0, _shortLived - 1);
        Raise(LinkFault.Reset);
        if (pause > 0 && _opened) RedialAfter(pause);
        else if (pause > 0 || !_dialled) RedialLater();
        else if (_shortLived == 0) Dial();
        else RedialInTurn();
    }

    private void Lose()
    {
        Connected = false;
        Session.Detach();
        _channel.Clear();
        DropPartial();
    }

    private void HandleDial(SimEventKind kind, long argument)
    {
        bool probe = kind is SimEventKind.ProbeArrive or SimEventKind.ProbeTimeout or SimEventKind.ProbeAnswer;
        if (IsOver || !Owner.Alive || argument != (probe ? _probe : _attempt)) return;
        switch (kind)
        {
            case SimEventKind.DialArrive: DialArrived(); break;
            case SimEventKind.DialUp: Accepted(); break;
            case SimEventKind.DialRefused: DialFailed(LinkFault.Refused); break;
            case SimEventKind.DialTimeout when _dialling: DialFailed(LinkFault.Unreachable); break;
            case SimEventKind.DialReplaced: End(LinkFault.Replaced); break;
            case SimEventKind.DialRejected: End(Address == Owner.Address ? LinkFault.Itself : LinkFault.Rejected); break;
            case SimEventKind.Redial when !_opened && _failures == 0: End(LinkFault.Rejected); break;
            case SimEventKind.Redial when !Connected: Dial(); break;
            case SimEventKind.ProbeArrive: ProbeArrived(); break;
            case SimEventKind.ProbeAnswer: ProbeAnswered(); break;
            case SimEventKind.ProbeTimeout when _probing: ProbeFailed(LinkFault.Unreachable); break;
        }
    }

    private void DialArrived()
    {
        long answer = Latency(toRemote: false);
        switch (Answer(out var target))
        {
            case null when target is not null && target.PausedUntil > _simulation.Time:
                Schedule(target.PausedUntil - _simulation.Time, SimEventKind.DialArrive, _attempt);
                break;
            case SimEventKind.DialUp: ConnectTo(Other ?? target!.Links.Accept(this), answer); break;
            case { } refusal: Schedule(answer, refusal, _attempt); break;
        }
    }

    // How the address answers now; null: not at all, or not yet since the target is paused.
    private SimEventKind? Answer(out SimNode? target)
    {
        target = null;
        if (_simulation.FindHost(Address.Text) is not { Refuses: false } host) return SimEventKind.DialRefused;
        var network = _simulation.Network;
        if (!network.MayDial(Owner.Host, host) || network.CutBetween(Owner.Host, host) is not null || network.CutBetween(host, Owner.Host) is not null) return null;
        if (!Simulation.LatestAt(host).Alive) return host.Answers ? SimEventKind.DialRefused : null;
        target = Simulation.LatestAt(host);
        if (target.PausedUntil > _simulation.Time) return null;
        if (_expected != 0 && target.Id != _expected) return SimEventKind.DialReplaced;
        return target == Owner || Other is { IsOver: true } ? SimEventKind.DialRejected : SimEventKind.DialUp;
    }

    private void ConnectTo(SimLinkEnd remote, long answer)
    {
        (Other, remote.Other) = (remote, this);
        if (remote.Connected) remote.Lose();
        if (!remote.Session.Attach(_helloReceived))
        {
            remote.End(LinkFault.Rejected);
            Schedule(answer, SimEventKind.DialRejected, _attempt);
            return;
        }
        Epoch = remote.Epoch = _simulation.NextEpoch();
        _ackReceived = remote.Session.Received;
        Schedule(answer, SimEventKind.DialUp, _attempt);
        remote._attempt++;
        remote._dialled = false;
        remote._expected = Owner.Id;
        remote._channel.LastArrival = _simulation.Time + answer;
        remote.Up();
    }

    private void Accepted()
    {
        if (_simulation.Network.CutBetween(Other!.Owner.Host, Owner.Host) is not null || Other.Epoch != Epoch) return;
        _expected = Other.Owner.Id;
        _dialled = true;
        if (!Session.Attach(_ackReceived))
        {
            End(LinkFault.Rejected);
            return;
        }
        Up();
        // This end was not up, so it was not told what has happened to the connection since it was answered.
        if (!Other.Connected && Other.Owner.Host.Answers) Other.TellOfReset(this);
        else if (!Other.Connected || _simulation.Network.CutBetween(Owner.Host, Other.Owner.Host) is not null) Ask();
    }

    private void Up()
    {
        (Connected, _dialling, _known, _failures, _upAt) = (true, false, true, 0, _simulation.Time);
        _reportedAt = _simulation.Time - ReportPause;
        HeardAt = Owner.Node.Now;
        Raise(null);
        Owner.Links.Acknowledged(this);
        Owner.Links.MarkDirty(this);
    }

    private void DialFailed(LinkFault fault)
    {
        _dialling = false;
        Report(fault);
        RedialLater();
    }

    private void RedialLater()
    {
        if (!_opened)
        {
            _failures = 0;
            RedialAfter(ForgetAfter);
            return;
        }
        RedialInTurn();
    }

    private void RedialInTurn()
    {
        long pause = SimTime.Nanoseconds(Model.RedialMinimum), longest = SimTime.Nanoseconds(Model.RedialMaximum);
        for (int i = 0; i < _failures && pause < longest; i++) pause *= RedialGrowth;
        _failures++;
        pause = Math.Min(pause, longest);
        RedialAfter(pause - (pause / 4) + Choose(pause / 2));
    }

    private void RedialAfter(long pause)
    {
        _attempt++;
        Schedule(pause, SimEventKind.Redial, _attempt);
    }

    private void ProbeArrived()
    {
        if (Owner.Links.Doubted.Contains(Address)) return;
        var answer = Answer(out var target);
        if (answer is null)
        {
            if (target is not null) Schedule(target.PausedUntil - _simulation.Time, SimEventKind.ProbeArrive, _probe);
            return;
        }
        _probeAnswer = answer.Value;
        Schedule(Latency(toRemote: false), SimEventKind.ProbeAnswer, _probe);
    }

    private void ProbeAnswered()
    {
        _probing = false;
        if (_probeAnswer == SimEventKind.DialUp) Raise(null);
        else if (_probeAnswer == SimEventKind.DialRefused) ProbeFailed(LinkFault.Refused);
        else End(_probeAnswer == SimEventKind.DialReplaced ? LinkFault.Replaced : LinkFault.Rejected);
    }

    private void ProbeFailed(LinkFault fault)
    {
        _probing = false;
        _probe++;
        Report(fault);
    }

    // The other end learns that the connection is gone once everything on its way has arrived; over a cut, when the cut heals.
    private void TellOfReset(SimLinkEnd other)
    {
        if (other.Epoch != Epoch) return;
        _untold = _simulation.Network.CutBetween(Owner.Host, other.Owner.Host) is not null;
        if (_untold) return;
        long arrival = Math.Max(_simulation.Time + Latency(toRemote: true), _channel.LastArrival);
        _simulation.Events.Add(arrival, SimEventKind.Reset, other, other.Epoch);
    }

    private void Report(LinkFault fault)
    {
        if (_simulation.Time - _reportedAt < ReportPause) return;
        _reportedAt = _simulation.Time;
        Raise(fault);
    }

    private void Raise(LinkFault? fault) => Owner.Links.Receive(new(this, null, fault));

    private void Schedule(long delay, SimEventKind kind, long argument) => _simulation.Events.Add(_simulation.Time + delay, kind, this, argument);
}
