using GroupCore.Groups;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.State;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>A process of a schedule: its node, the groups it has or had a seat in, and what is done to it.</summary>
internal sealed class GroupPlace(GroupSurface surface)
{
    private readonly HashSet<SimNode> _crashed = [];
    private TimeSpan _worker;
    private SimNode? _kept;
    private bool _lost;

    public SimMember Member { get; set; } = null!;

    public List<GroupSeat> Seats { get; } = [];

    /// <summary>Groups that it tried to join with other options, which is in the way of another join until it is refused.</summary>
    public HashSet<SharedGroup> TriedOtherwise { get; } = [];

    /// <summary>Bounds of its groups.</summary>
    public GroupHostOptions Bounds { get; init; } = new();

    /// <summary>Until when its node takes no turn.</summary>
    public TimeSpan AwakeSince { get; set; }

    /// <summary>How long each writing of its state takes.</summary>
    public TimeSpan Saving { get; set; }

    /// <summary>When the last writing of its state that was delayed comes to its end.</summary>
    public TimeSpan SavesUntil { get; private set; }

    /// <summary>Its program has ended it, or is about to.</summary>
    public bool IsEnding { get; set; }

    /// <summary>Its program is being restarted.</summary>
    public bool IsStarting { get; set; }

    /// <summary>It lost a life, and its program has not been called for the next.</summary>
    public bool AwaitsRejoin { get; set; }

    /// <summary>Whether that call is still owed: not when the node has ended as its options say.</summary>
    public bool IsOwedRejoin => AwaitsRejoin && !IsEnding && !IsStarting && !Member.Node.Completion.IsCompleted;

    public bool IsAwake => surface.Simulation.Now >= AwakeSince;

    public bool IsActive => !IsStarting && Member is { Node: { State: MembershipState.Active, Completion.IsCompleted: false }, Host.Alive: true } && !IsEnding;

    public bool HasCrashed(SimNode life) => _crashed.Contains(life);

    /// <summary>What its protocols see: completions of user code that come late.</summary>
    public INode Tap(INode node) => new DelayingNode(surface.Simulation, node, Delay);

    /// <summary>For how long the thread that runs the handlers of all its groups was away.</summary>
    public UserWork Work { get; } = new();

    /// <summary>Whether it lost its place since it was asked last, though its program did not end it.</summary>
    public bool TryTakeLoss()
    {
        if (IsEnding || IsStarting)
        {
            (_kept, _lost) = (null, false);
            return false;
        }
        bool active = Member.Node.State == MembershipState.Active;
        bool news = !_lost && !(active && (_kept is null || _kept == Member.Host));
        if (active) _kept = Member.Host;
        _lost = !active;
        return news;
    }

    /// <summary>Delays the thread that runs its handlers by this much, once.</summary>
    public void DelayWorker(TimeSpan time)
    {
        _worker = time;
        Work.Add(surface.Simulation.Now, time);
    }

    public void Crash(bool hostAnswers)
    {
        var life = Member.Host;
        _crashed.Add(life);
        AwaitsRejoin = false;
        foreach (var seat in Seats) seat.EndIfOf(life);
        surface.Simulation.After(TimeSpan.Zero, () => life.Crash(hostAnswers));
    }

    /// <summary>Ends the node in order: until that is done it is a member like any other, and gives joiners the state.</summary>
    public async Task DisposeAsync()
    {
        var (life, node) = (Member.Host, Member.Node);
        try
        {
            await node.DisposeAsync();
        }
        finally
        {
            foreach (var seat in Seats) seat.EndIfOf(life);
        }
    }

    /// <summary>Ends the seats in lives that are over.</summary>
    public void EndTheGone()
    {
        foreach (var seat in Seats)
            if (!seat.HasEnded && (seat.Life != Member?.Host || !seat.Life.Alive || seat.Group?.Completion.IsFaulted == true)) seat.End();
    }

    public void Stall(TimeSpan time)
    {
        var until = surface.Simulation.Now + time;
        if (until > AwakeSince) AwakeSince = until;
    }

    private TimeSpan Delay(ICompletion work)
    {
        if (work is StateCut)
        {
            SavesUntil = surface.Simulation.Now + Saving;
            surface.OnSlowSave(this);
            return Saving;
        }
        if (work is not Dispatcher || _worker == TimeSpan.Zero) return TimeSpan.Zero;
        var time = _worker;
        _worker = TimeSpan.Zero;
        return time;
    }
}
