using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>
/// Careless programs: whole nodes in systems of 1 to 20 processes whose programs use every public call of groups with every option and every
/// misuse, while user code blocks, throws, calls back and never ends, and processes and links fail. Virtual synchrony is judged after every
/// step. Every call must end in time, with a documented outcome, and nothing may be left over at the end. If nothing fails, no membership may be lost, except by eviction.
/// </summary>
internal sealed class GroupSurface
{
    /// <summary>How long disposing a group may take: twice <see cref="GroupHostOptions.DisposeTimeout"/>.</summary>
    public static readonly TimeSpan DisposeBound = 2 * new GroupHostOptions().DisposeTimeout;

    /// <summary>The least share of a time given by a caller that really passes if a clock is fast.</summary>
    public const double LeastClock = 0.95;

    private const double MostDrift = 0.03;
    // The others look for slow members once a second, and so does the slow member itself.
    private static readonly TimeSpan s_forgiven = TimeSpan.FromSeconds(3);
    // A group may hear of an exclusion before its node.
    private static readonly TimeSpan s_excluded = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_seconds = TimeSpan.FromSeconds(5), s_stop = TimeSpan.FromSeconds(5), s_joinTimeout = TimeSpan.FromSeconds(60);
    private readonly ScenarioRun _run;
    private readonly SimCluster _cluster;
    private readonly List<SharedGroup> _groups = [];
    private readonly HashSet<ulong> _executed = [], _never = [], _toOne = [];
    private readonly HashSet<(ulong Message, ProcessId At)> _hookMessages = [];
    private readonly HashSet<SharedGroup> _changing = [];
    private readonly Dictionary<ulong, ulong> _viewOf = [];
    private readonly List<TaskCompletionSource> _stuck = [];
    private readonly List<(GroupId Group, GroupSeat Seat)> _ended = [];
    private readonly GroupFaults _faults;
    private readonly RejoinHooks _hooks;
    private readonly SlowChanges _slow;
    private readonly NodeQuestions _questions;
    private readonly bool _rejoins, _restsLong;
    private SimNode? _stranger;
    private string? _failure;
    private ulong _ids;

    public GroupSurface(ScenarioRun run)
    {
        _run = run;
        // Drawn before there is a simulation, whose options depend on it.
        var shape = new Prng(run.Case.Seed * 0x9E3779B97F4A7C15);
        var options = new SimulationOptions();
        if (shape.Chance(0.3)) options = options with { MostQueuedBytes = 64 << (10 + (int)shape.Next(5)) };
        if (shape.Chance(0.25)) options = options with { Link = options.Link with { BytesPerSecond = 3_000_000 << (int)shape.Next(5) } };
        if (shape.Chance(0.5)) options = options with { ShuffleCompletions = true };
        if (shape.Chance(0.15)) options = options with { MaxClockDrift = MostDrift, MaxClockOffset = TimeSpan.FromDays(3_000) };
        if (shape.Chance(0.3)) options = options with { Link = options.Link with { UnsettledChance = 0.5 } };
        _cluster = new(ThreadNames.Start(run, options));
        Random = Simulation.Random;
        if (options.MostQueuedBytes < 2 << 20) Drawn.Draw(GroupNames.SmallBudget);
        if (options.Link.BytesPerSecond > 0) Drawn.Draw(GroupNames.Narrow);
        if (options.Link.UnsettledChance > 0 && Simulation.Options.Carrier == SimCarrier.Memory) Drawn.Draw(GroupNames.Unsettled);
        if (options.MaxClockDrift == MostDrift) Drawn.Draw(GroupNames.WrongClocks);
        if (options.ShuffleCompletions) Drawn.Draw(GroupNames.Shuffled);
        if (IsCalm = Random.Chance(0.4)) Drawn.Draw(GroupNames.Calm);
        // Resets and a lack of descriptors are failures, too.
        if (IsCalm) Simulation.Sockets = new();
        _restsLong = new Prng(run.Case.Seed ^ 0x4E57).Next(12) == 0;
        if (_rejoins = Random.Chance(IsCalm ? 0.2 : 0.6)) Drawn.Draw(GroupNames.Rejoins);
        int groups = Random.Chance(0.4) ? 1 : 2 + (int)Random.Next(2);
        if (groups > 1) Drawn.Draw(GroupNames.SeveralGroups);
        for (int i = 0; i < groups; i++) _groups.Add(new($"g{i}", Random, Drawn));
        Open = new(Simulation, run.Calls, run.Measures, since => Places.Aggregate(TimeSpan.Zero, (sum, place) => place.Seats.Aggregate(sum + place.Work.Between(since, Simulation.Now), (all, seat) => all + seat.Work.Between(since, Simulation.Now))), Describe);
        Calls = new(this);
        _faults = new(this);
        _hooks = new(this, _faults);
        _slow = new(this);
        _questions = new(this);
        Simulation.AddInvariant("group surface", () => _failure ?? _groups.Select(static group => group.Broken()).FirstOrDefault(static broken => broken is not null));
    }

    public SimulationCase Case => _run.Case;

    public Simulation Simulation => _cluster.Simulation;

    public Ingredients Drawn => _run.Ingredients;

    public Prng Random { get; }

    public OpenCalls Open { get; }

    public GroupCalls Calls { get; }

    public List<GroupPlace> Places { get; } = [];

    /// <summary>No process or link fails, so a membership may end only because its program wants it, or by eviction.</summary>
    public bool IsCalm { get; }

    /// <summary>Nothing careless is begun any more.</summary>
    public bool IsOver { get; private set; }

    /// <summary>What a handler that never ends waits for; it ends with the schedule.</summary>
    public Task NeverAsync()
    {
        var stuck = new TaskCompletionSource();
        if (IsOver) stuck.SetResult();
        else _stuck.Add(stuck);
        return stuck.Task;
    }

    /// <summary>Whether one more handler may get stuck; not those of all processes at once.</summary>
    public bool MayStick => !IsOver && Places.Count(static place => place.Seats.Exists(static seat => seat.IsStuck)) * 3 <= Places.Count;

    private IEnumerable<GroupSeat> Seats => Places.SelectMany(static place => place.Seats);

    /// <summary>A number for a message, which tells how it is judged.</summary>
    public ulong NextId(bool ordered, bool nested) => (++_ids << 2) | (nested ? 2UL : 0) | (ordered ? 1UL : 0);

    public static bool IsOrdered(ulong id) => (id & 1) != 0;

    public static bool IsNested(ulong id) => (id & 2) != 0;

    public void Fail(string why) => _failure ??= why;

    /// <summary>A handler sent this message, which must be handled in the view of the message that the handler was called for.</summary>
    public void OfView(ulong id, ulong view) => _viewOf[id] = view;

    public ulong? ViewOf(ulong id) => _viewOf.TryGetValue(id, out ulong view) ? view : null;

    /// <summary>A question to one member.</summary>
    public void ToOne(ulong id) => _toOne.Add(id);

    public bool IsToOne(ulong id) => _toOne.Contains(id);

    public bool TryTakeHookMessage(ulong id, ProcessId at) => _hookMessages.Add((id, at));

    /// <summary>The caller of this message was told that it is not sent, so it must never be handled.</summary>
    public void Never(ulong id)
    {
        _never.Add(id);
        if (_executed.Contains(id)) Fail($"Message {id} was handled, but its caller told that it is not sent.");
    }

    public void OnExecuted(ulong id)
    {
        _executed.Add(id);
        if (_never.Contains(id)) Fail($"Message {id} is handled, but its caller was told that it is not sent.");
    }

    public void Run()
    {
        int size = Random.Next(20) switch { < 3 => 1, < 8 => 2, < 19 => 5, _ => 20 };
        Drawn.Draw(GroupNames.Sizes + size);
        Simulation.RunAsync(async () =>
        {
            for (int i = 0; i < size; i++) await StartAsync();
            foreach (var place in Places)
                foreach (var group in _groups)
                    if (group == _groups[0] || Random.Chance(0.6)) Join(place, group, first: true);
            await UntilAsync(() => !Seats.Any(static seat => seat.IsJoining), 60, "The first joins end");
            if (size > 2) _stranger = _run.BeginStranger(() => Seats.FirstOrDefault(static seat => seat.IsUsable)?.View);
            if (_rejoins && !IsCalm) _hooks.Begin();
            foreach (var group in _groups) _slow.Begin(group);
            _questions.Begin();
            var end = Simulation.Now + s_seconds;
            while (Simulation.Now < end)
            {
                await Simulation.Delay(TimeSpan.FromMicroseconds(Random.Next(1, size > 5 ? 120_000 : 50_000)));
                Look();
                Step();
            }
            await FinishAsync();
        }, TimeSpan.FromMinutes(30));
        _run.Work = _groups.Sum(static group => group.Deliveries);
        _run.Views = _groups.Sum(static group => group.Views);
    }

    /// <summary>The program of a process joins the group that all are in.</summary>
    public void JoinFirst(GroupPlace place)
    {
        if (!place.Seats.Exists(seat => seat.Shared == _groups[0] && seat.Life == place.Member.Host && seat.IsOpen)) Join(place, _groups[0]);
    }

    /// <summary>A process joins a group it has no seat in: any, or the one given. Null when there is none.</summary>
    public GroupSeat? Join(GroupPlace place, SharedGroup? group = null, bool first = false)
    {
        if (!place.IsActive) return null;
        group ??= _groups.Find(one => !place.Seats.Exists(seat => seat.Shared == one && seat.IsOpen));
        if (group is null) return null;
        if (place.Seats.Exists(seat => seat.Shared == group)) Drawn.Draw(GroupNames.JoinAgain);
        else if (!first) Drawn.Draw(GroupNames.JoinBeside);
        var seat = new GroupSeat(this, place, group, SeatHabits.Draw(Random, Drawn, first || IsOver));
        place.Seats.Add(seat);
        CancellationTokenSource? source = null;
        var cancelAt = TimeSpan.MaxValue;
        if (!first && !IsOver && Random.Chance(0.3))
        {
            source = new();
            if (Random.Chance(0.15))
            {
                Drawn.Draw(GroupNames.JoinCancelledBefore);
                source.Cancel();
                seat.IsNever = true;
            }
            else
            {
                Drawn.Draw(GroupNames.JoinCancelled);
                cancelAt = Simulation.Now + TimeSpan.FromMicroseconds(Random.Chance(0.5) ? Random.Next(1, 3_000) : Random.Next(3_000, 700_000));
            }
        }
        var begun = Simulation.Now;
        Open.Add(new(CallKind.Join, $"of {group.Name}", place, JoinAsync(seat, source?.Token ?? default), begun)
        {
            Source = source, CancelAt = cancelAt, EndsByToken = true, Cancelled = () => OnJoinCancelled(seat),
            Judge = task => task.Exception?.InnerException switch
            {
                null => null,
                JoinTimeoutException when Simulation.Now - begun >= s_joinTimeout * LeastClock => null,
                JoinRefusedException refused when MayBeRefused(group, refused) || !IsCalm || !place.IsActive => null,
                // A program that ends its node in order must not be told that it was excluded.
                ExcludedException excluded when place.IsEnding && IsSafe => $"with {excluded}",
                ExcludedException or NodeStoppedException or NotMemberException when !place.IsActive || place.Member.Host != seat.Life => null,
                // An earlier join has not been undone yet.
                InvalidOperationException and not (NotMemberException or JoinRefusedException or NodeStoppedException or ExcludedException) when place.Seats.Exists(other => other != seat && other.Shared == group) || place.TriedOtherwise.Contains(group) => null,
                var error => $"with {error}",
            },
        });
        return seat;
    }

    /// <summary>The program of a process starts again, and joins what it was in.</summary>
    public void Restart(GroupPlace place)
    {
        if (place.IsStarting) return;
        Drawn.Draw(GroupNames.Restart);
        // Its stop may not be over, for instance if the node was frozen meanwhile: then the stop is cut short.
        if (place.Member.Host.Alive) place.Crash(hostAnswers: true);
        (place.IsStarting, place.AwaitsRejoin) = (true, false);
        _ = Simulation.Spawn(async () =>
        {
            try
            {
                await Started(place, SimCluster.RestartAsync(place.Member, OptionsOf(place)));
            }
            catch (Exception error) when (error is ClusterUnreachableException or ExcludedException or NodeStoppedException)
            {
                return;
            }
            finally
            {
                (place.IsStarting, place.IsEnding) = (false, false);
            }
            if (!IsOver) Join(place, _groups[0]);
        });
    }

    private void OnJoinCancelled(GroupSeat joiner)
    {
        if (joiner.IsJoining && Places.Exists(place => place.SavesUntil > Simulation.Now && place.Seats.Exists(seat => seat.Shared == joiner.Shared && seat.IsUsable))) Drawn.Draw(GroupNames.JoinCancelledInSave);
    }

    /// <summary>Whether a join may be refused although nothing fails: the state cannot be saved or loaded, or nobody holds it any more.</summary>
    private bool MayBeRefused(SharedGroup group, JoinRefusedException refused) =>
        IsGivenUp(refused) || group.HasState && Seats.Any(seat => seat.Shared == group && seat.Habits is { SaveThrows: true } or { LoadThrows: true })
        // Its last members have left. A process that hears of this later, by asking, hears no reason.
        || IsOfGroup(refused.Message);

    private bool IsGivenUp(JoinRefusedException refused)
    {
        if (!refused.Message.Contains("was not saved", StringComparison.Ordinal) || !Places.Exists(static place => place.Bounds.SaveTimeout < s_joinTimeout)) return false;
        Drawn.Draw(GroupNames.SaveGivenUp);
        return true;
    }

    private GroupHostOptions DrawBounds()
    {
        var bounds = new GroupHostOptions();
        if (Random.Chance(0.5)) bounds = bounds with { MaxJoinBacklogBytes = 4 << 20 };
        if (Random.Chance(0.2)) bounds = bounds with { DisposeTimeout = TimeSpan.FromMilliseconds(Random.Next(200)) };
        if (Random.Chance(0.3)) bounds = bounds with { SaveTimeout = TimeSpan.FromMilliseconds(1_000 + Random.Next(2_000)) };
        return bounds;
    }

    public void Relay(GroupSeat seat) => _slow.Relay(seat);

    private async Task StartAsync()
    {
        var place = new GroupPlace(this) { Bounds = DrawBounds() };
        var start = _cluster.StartAsync(OptionsOf(place), _run.Without, place.Tap).AsTask();
        // Its life is there as soon as its start has begun.
        place.Member = _cluster.Members[^1];
        await Started(place, start);
        Places.Add(place);
    }

    private Task Started(GroupPlace place, Task start)
    {
        var life = place.Member.Host;
        Open.Add(new(CallKind.Start, "", place, start, Simulation.Now)
        {
            Judge = task => task.Exception?.InnerException switch
            {
                null => null,
                // It started alone, or lost the processes that it had found.
                ClusterUnreachableException when Places.Count > 0 => null,
                ExcludedException or NodeStoppedException when !life.Alive => null,
                var error => $"with {error}",
            },
        });
        return start;
    }

    private IdaNodeOptions OptionsOf(GroupPlace place) => Unruly.Log(!_rejoins ? new() { Groups = place.Bounds } : new()
    {
        Groups = place.Bounds,
        OnExcluded = ExclusionPolicy.Rejoin,
        OnFault = ExclusionPolicy.Rejoin,
        OnRejoined = (_, token) => _hooks.OnRejoinedAsync(place, token),
    }, _run.Case.Seed, Drawn);

    private async Task JoinAsync(GroupSeat seat, CancellationToken token)
    {
        try
        {
            seat.Group = await seat.Place.Member.Node.JoinAsync(seat.Shared.Name, seat.Configure, seat.Shared.Options, token);
        }
        catch
        {
            seat.End();
            throw;
        }
        finally
        {
            seat.IsJoining = false;
        }
    }

    private void Look()
    {
        foreach (var place in Places)
        {
            place.EndTheGone();
            foreach (var seat in place.Seats)
            {
                seat.NoteSent();
                JudgeEnd(seat);
            }
            if (IsCalm) JudgeLoss(place);
            if (place.IsActive && place.Member.Node.Groups.Any(static group => group.IsJoinBacklogUsed)) Drawn.Draw(GroupNames.JoinBacklog);
        }
        LookAtViews();
        Open.Look();
    }

    // A view change counts once, however long it lasts.
    private void LookAtViews()
    {
        foreach (var group in _groups)
        {
            bool changes = Seats.Any(seat => seat.Shared == group && seat.IsUsable && seat.Group!.Status.ChangingView);
            if (!changes) _changing.Remove(group);
            else if (_changing.Add(group)) Open.Meet(CallTable.InView);
        }
        if (_changing.Count > 0) Open.CancelInViews();
    }

    private void Step()
    {
        if (Places.Count == 0) return;
        if (!IsCalm && Random.Chance(0.08))
        {
            _faults.Draw();
            return;
        }
        var place = Places[(int)Random.Next(Places.Count)];
        if (!place.IsActive)
        {
            if (place.Seats.Find(static seat => seat.IsOver) is { } over && Random.Chance(0.3)) Calls.AfterEnd(over);
            return;
        }
        var usable = place.Seats.FindAll(static seat => seat.IsUsable);
        if (usable.Count == 0 || Random.Chance(0.04))
        {
            Join(place);
            return;
        }
        var one = usable[(int)Random.Next(usable.Count)];
        int what = (int)Random.Next(100);
        if (one.View is { } view && Random.Chance(0.06) && view.Members.Any(static member => !member.Initialised)) Calls.Flood(one);
        switch (what)
        {
            case < 78:
                Calls.Draw(one);
                break;
            case < 86:
                GroupMisuse.Draw(one, Random, Drawn, _run.Calls);
                break;
            case < 89:
                var timing = CallTiming.Draw(Random, Drawn);
                Drawn.Draw(timing.Source is null ? GroupNames.Leave : GroupNames.LeaveCancelled);
                Calls.Leave(one, timing);
                break;
            case < 91:
                Drawn.Draw(one.IsStuck ? GroupNames.DisposeStuck : GroupNames.Dispose);
                Calls.Dispose(one);
                break;
            case < 93:
                Drawn.Draw(GroupNames.SlowSave);
                place.Saving = TimeSpan.FromMilliseconds(Random.Next(1, 8_000));
                break;
            case < 95:
                Drawn.Draw(GroupNames.JoinTwice);
                Open.Add(new(CallKind.Join, "again", place, place.Member.Node.JoinAsync(one.Shared.Name).AsTask(), Simulation.Now)
                {
                    Bound = TimeSpan.FromSeconds(1), Judge = task => task.Exception?.InnerException is InvalidOperationException ? null : $"{task.Status}",
                });
                break;
            case < 96:
                JoinOtherwise(place, one.Shared);
                break;
            case < 97 when place.Seats.Find(static seat => seat.IsOver) is { } over:
                Calls.AfterEnd(over);
                break;
            case < 98 when Places.Count > 1 && Places.TrueForAll(static other => other.IsActive):
                Stop(place);
                break;
            case < 100 when Places.Count > 1:
                StopGiver(place);
                break;
        }
    }

    /// <summary>Joins with other options than the members of a group that goes on.</summary>
    private void JoinOtherwise(GroupPlace place, SharedGroup group)
    {
        // Two such joins at once would meet each other.
        var stranger = Places.Find(other => other != place && other.IsActive && !other.TriedOtherwise.Contains(group) && !other.Seats.Exists(seat => seat.Shared == group));
        if (stranger is null || !IsCalm) return;
        Drawn.Draw(GroupNames.OtherOptions);
        stranger.TriedOtherwise.Add(group);
        var options = group.Options with { StrictPrimary = !group.Options.StrictPrimary };
        var life = stranger.Member.Host;
        Open.Add(new(CallKind.Join, "with other options", stranger, JoinRefusedAsync(stranger, group, options), Simulation.Now)
        {
            Judge = task => task.Exception?.InnerException switch
            {
                null or JoinRefusedException => null,
                NotMemberException or ExcludedException or NodeStoppedException when !stranger.IsActive || stranger.Member.Host != life => null,
                var error => $"with {error}",
            },
        });
    }

    private static async Task JoinRefusedAsync(GroupPlace stranger, SharedGroup group, GroupOptions options)
    {
        await using var joined = await stranger.Member.Node.JoinAsync(group.Name, null, options);
    }

    private void Stop(GroupPlace place)
    {
        bool stuck = place.Seats.Exists(static seat => seat.IsStuck);
        Drawn.Draw(stuck ? GroupNames.StopStuck : GroupNames.StopNode);
        _ = StopAsync(place);
        if (Random.Chance(0.5)) Simulation.After(TimeSpan.FromSeconds(4) + TimeSpan.FromMilliseconds(Random.Next(2_000)), () => Restart(place));
    }

    /// <summary>Ends the node of the only member that holds the state of a group, while another process loads it or waits for its view.</summary>
    private void StopGiver(GroupPlace place)
    {
        if (place.Seats.Find(static seat => seat is { IsUsable: true, View.Members.Count: 1 })?.Shared is not { } group) return;
        if (Places.Find(other => other != place && other.IsActive && !other.TriedOtherwise.Contains(group) && !other.Seats.Exists(seat => seat.Shared == group && seat.IsOpen)) is not { } comer) return;
        place.Saving = TimeSpan.FromSeconds(8);
        Join(comer, group);
        Simulation.After(TimeSpan.FromMilliseconds(Random.Next(600)), () =>
        {
            if (IsOver || !Places.TrueForAll(static other => other.IsActive)) return;
            Drawn.Draw(GroupNames.StopGiver);
            Stop(place);
        });
    }

    private Task StopAsync(GroupPlace place)
    {
        var members = place.Seats.FindAll(static seat => seat.IsUsable);
        place.IsEnding = true;
        var task = place.DisposeAsync();
        Open.Add(new(CallKind.Stop, "", place, task, Simulation.Now) { Bound = s_stop, Judge = task => task.Exception is null ? LossOf(members) : $"with {task.Exception.InnerException}" });
        if (!IsOver) _questions.OnStop(place);
        return task;
    }

    /// <summary>
    /// A membership that its process gave up in order must not end with an error. Exempt are members that were leaving anyway, systems in which members may be excluded, and
    /// members whose messages had no time to go out.
    /// </summary>
    private string? LossOf(List<GroupSeat> members) =>
        members.Find(seat => !seat.IsLeaving && IsSafe && seat.Group!.Completion.Exception?.InnerException is NotMemberException error && !error.Message.Contains("it left before everything it had sent had gone out", StringComparison.Ordinal)) is { } lost ? $"and {lost.Id} is told {lost.Group!.Completion.Exception!.InnerException}" : null;

    /// <summary>Nobody is excluded, for a failure or as slow.</summary>
    private bool IsSafe => IsCalm && !_groups.Exists(static group => group.Evicts);

    private async Task FinishAsync()
    {
        IsOver = true;
        _stranger?.Crash();
        Simulation.Network.Heal();
        foreach (var a in Simulation.Nodes)
            foreach (var b in Simulation.Nodes)
                if (a != b) Simulation.Network.Slow(a, b, 1);
        foreach (var place in Places)
        {
            place.Saving = TimeSpan.Zero;
            if (place.Member.Host.Alive) place.Member.Host.SlowFactor = 1;
        }
        foreach (var stuck in _stuck) Simulation.After(TimeSpan.Zero, stuck.SetResult);
        if (!IsCalm && Random.Chance(0.3)) _faults.OverflowLast();
        Open.CalmSince = Simulation.Now;
        await UntilAsync(() => (Open.Count == 0 && !Places.Exists(static place => place.IsStarting || place.IsOwedRejoin)) || IsLost(), 150, "All calls end");
        if (!IsLost())
        {
            await UntilAsync(() => IsLost() || _groups.TrueForAll(IsSettled), 60, "Each group settles in a view of its members");
            // Both at one instant: a link that was lost brings another view, which may begin while something is left over.
            await UntilAsync(() => IsLost() || (Leftover() is null && _groups.TrueForAll(IsSettled)), 60, "Each group is settled and nothing is left over");
        }
        if (_restsLong && !IsLost()) await RestLongAsync();
        _run.Lost = IsLost();
        foreach (var (id, seat) in _ended)
            if (GoesOn(id)) throw new ScenarioFailedException($"{seat.Id} was told that {seat.Shared.Name} is over, others go on.");
        foreach (var group in _groups) ScenarioFailedException.ThrowIf(group.Verdict(id => !_run.Lost && GoesOn(id)));
        foreach (var place in Places)
        {
            if (_stranger is null && Offences.Of(place.Member.Node.Counters) > 0) throw new ScenarioFailedException($"{place.Member} was sent frames that no node sends.");
            if (place.Member.Host.Alive && !place.Member.Node.Completion.IsCompleted) _ = StopAsync(place);
        }
        await UntilAsync(() => Open.All == 0, 30, "All ends with the nodes");
    }

    /// <summary>After a long rest nothing may be left over, neither of calls nor of nodes that have gone.</summary>
    private async Task RestLongAsync()
    {
        await Leftovers.RestLongAsync(Simulation, settled: false, Look);
        await UntilAsync(() => IsLost() || (Open.Count == 0 && Leftover() is null && _groups.TrueForAll(IsSettled)), 60, "Each group is settled after a long rest");
        if (!IsLost()) await Leftovers.JudgeAsync(Places.Where(static place => place.IsActive).Select(static place => place.Member), _run);
    }

    /// <summary>Whether the faults took the majority that decides: nobody is left, or all that are left are cut off from it for good.</summary>
    private bool IsLost() => !IsCalm && !Places.Exists(static place => place.IsActive) && Places.TrueForAll(static place => !place.IsStarting);

    private bool IsSettled(SharedGroup group)
    {
        var members = Seats.Where(seat => seat.Shared == group && seat.IsUsable).ToList();
        return members.TrueForAll(seat => seat.View is { } view && view == seat.Group!.CurrentView && view.Id == members[0].View!.Id && view.Members.Count == members.Count
            && !seat.Group.Status.ChangingView && view.Members[view.RankOf(seat.Id)].Initialised);
    }

    private string? Leftover()
    {
        foreach (var seat in Seats)
        {
            if (!seat.IsUsable) continue;
            var (status, backlog) = (seat.Group!.Status, seat.Group.Protocol.Backlog);
            // Messages that handlers sent belong to no call, and may be on their way to a receiver that is frozen.
            if (status is not { EventsWaiting: 0, Handler: null, WaitsFor.Count: 0 } || backlog != (0, 0, 0, 0) || seat.Group.Protocol.Peers.Outstanding > 0) return $"{seat.Id} {seat.Group.Protocol}: {status}, {backlog}";
        }
        return _groups.Find(group => !group.IsEven(GoesOn)) is { } uneven ? $"Members of {uneven.Name} have delivered more than others."
            : Places.Where(static place => place.IsActive).Select(place => Leftovers.Of(place.Member)).FirstOrDefault(static left => left is not null) ?? Places.Select(Leftover).FirstOrDefault(static left => left is not null);
    }

    private bool GoesOn(GroupId group) => Seats.Any(seat => seat.IsUsable && seat.View!.Group == group);

    /// <summary>What a process keeps of groups that are over.</summary>
    private static string? Leftover(GroupPlace place)
    {
        if (!place.IsActive || place.Seats.Find(seat => seat.Group is not null && seat.Life == place.Member.Host) is not { } any) return null;
        var host = (GroupHost)any.Group!.Protocol.Host;
        return host.Groups.Count == 0 && host.Bindings.Count > 0 ? $"{place.Member} is in no group and keeps {host.Bindings.Count} bindings." : null;
    }

    public void OnSlowSave(GroupPlace place)
    {
        foreach (var group in _groups)
            if (place.Saving > TimeSpan.Zero && place.Seats.Exists(seat => seat.Shared == group)) group.Saves.Add(Simulation.Now, place.Saving);
    }

    /// <summary>
    /// Whatever fails, a membership at a node that goes on may end only because its program ended it, or with its group. An excluded member is exempt: it loses its node soon.
    /// </summary>
    private void JudgeEnd(GroupSeat seat)
    {
        if (seat.IsJudged || seat.Group is not { Completion.IsCompleted: true } group || !seat.Place.IsActive || seat.Life != seat.Place.Member.Host) return;
        if (Simulation.Now - (seat.OverSince ??= Simulation.Now) < s_excluded) return;
        seat.IsJudged = true;
        if (seat.IsLeaving && (!group.Completion.IsFaulted || seat.IsDisposing)) return;
        var error = group.Completion.Exception?.InnerException;
        if (error is not NotMemberException || !IsOfGroup(error.Message))
            throw new ScenarioFailedException($"{seat.Id} lost its place in {seat.Shared.Name} before {seat.OverSince}, and its program did not end it: {error?.ToString() ?? "it has left"}.");
        _ended.Add((group.CurrentView.Group, seat));
    }

    private static bool IsOfGroup(string reason) => reason.Contains("state is lost", StringComparison.Ordinal) || reason.Contains("the group is over", StringComparison.Ordinal);

    /// <summary>
    /// Where nothing fails, a process may lose its place only in a group that evicts, for user code that was at work for as long as the group tolerates, until the loss or nearly
    /// so. Slow links excuse the loss, too.
    /// </summary>
    private void JudgeLoss(GroupPlace place)
    {
        if (!place.TryTakeLoss()) return;
        // Where links are slow, it is nobody's fault to be slow.
        bool links = Drawn.Drawn.ContainsKey(GroupNames.Narrow) || Drawn.Drawn.ContainsKey(GroupNames.SmallBudget);
        bool slow = _groups.Exists(group => group.Evicts && place.Seats.Exists(seat => seat.Shared == group) && (links || IsSlow(place, group)));
        if (!slow)
            throw new ScenarioFailedException($"{place.Member} lost its place at {Simulation.Now} and is {place.Member.Node.State}; {string.Join(", ", _groups.Select(group => $"its user code was at work for {WorkOf(place, group, Simulation.Now)}, {WorkOf(place, group, Simulation.Now - s_forgiven)} of it {s_forgiven} ago, in {group.Name}{(group.Evicts ? $", which bears {group.Options.SlowMemberTimeout}" : "")}"))}.");
        Drawn.Draw(GroupNames.Evicted);
    }

    private bool IsSlow(GroupPlace place, SharedGroup group)
    {
        var work = WorkOf(place, group, Simulation.Now);
        return work >= group.Options.SlowMemberTimeout * LeastClock && work > WorkOf(place, group, Simulation.Now - s_forgiven);
    }

    // Each group has a thread of its own; the handlers of an earlier membership may still hold it.
    private static TimeSpan WorkOf(GroupPlace place, SharedGroup group, TimeSpan now) =>
        place.Seats.Where(seat => seat.Shared == group).Aggregate(place.Work.Until(now) + group.Saves.Until(now), (sum, seat) => sum + seat.Work.Until(now));

    private async Task UntilAsync(Func<bool> condition, int seconds, string what)
    {
        var end = Simulation.Now + TimeSpan.FromSeconds(seconds);
        while (true)
        {
            Look();
            if (condition()) return;
            if (Simulation.Now > end) throw new ScenarioFailedException($"{what}: not so after {seconds} s.\n{Open.Describe()}\n{Describe()}");
            await Simulation.Delay(TimeSpan.FromMilliseconds(20));
        }
    }

    private string Describe() => string.Join('\n', Places.Select(static place =>
        $"{place.Member} {place.Member.Node.State}{(place.IsEnding ? " ending" : "")}{(place.IsStarting ? " starting" : "")}: {string.Join("; ", place.Seats.Where(static seat => seat.IsOpen || seat is { Group.Completion.IsCompleted: false } or { Group.Status.EventsWaiting: > 0 }).Select(static seat => $"{seat.Id} {(seat.IsJoining ? "joins " + seat.Shared.Name : $"{seat.Group!.Protocol.Phase} {seat.Group.Protocol} of {string.Join(' ', seat.Group.Protocol.View?.Members.Select(static member => member.Address) ?? [])}")} {seat.Group?.Protocol.Backlog} {seat.Group?.Status.EventsWaiting} {seat.Group?.Status.Handler}"))}")) + Leftover();
}
