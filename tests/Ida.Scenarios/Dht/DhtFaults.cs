using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>The faults of the members and channels of a <see cref="DhtWorld"/> in a random schedule. Each kind happens at most as often as was drawn for it.</summary>
internal sealed class DhtFaults(SimulationCase run, DhtWorld world, Prng random)
{
    public const string LeftBlocked = "leave without contact";
    private readonly HashSet<(int, int)> _slow = [];
    private bool _viewDue;

    public int Crashes, Exclusions, Joins, Views, Leaves, LostLinks;

    /// <summary>How many of the crashes are turns that throw.</summary>
    public int Throws;

    /// <summary>How often a member loses its lease for a moment.</summary>
    public int Lapses;

    /// <summary>Draws which leavers have no contact with the primary partition when they begin to leave, and for how long; null: all have contact.</summary>
    public Prng? Blocks { get; init; }

    /// <summary>Half of the number of channels that are slow at a time.</summary>
    public int Slowness;

    /// <summary>A shard lost its last initialised member, or everybody is gone: what comes after that is not judged.</summary>
    public bool Depopulated { get; private set; }

    public int ViewChanges { get; private set; }

    /// <summary>Whether a view change must follow a crash, or was asked for.</summary>
    public bool ViewIsDue => _viewDue || world.ViewRequested;

    /// <summary>Called with the name of each fault that happens.</summary>
    public Action<string>? Happened { get; init; }

    public void DeliverSome(int count)
    {
        for (int i = 0; i < count; i++)
        {
            var busy = world.Busy();
            if (busy.Count == 0) return;
            var pair = busy[random.Next(busy.Count)];
            if (_slow.Contains(pair) && random.Next(40) != 0) continue;
            world.Deliver(pair.From, pair.To);
        }
    }

    public void ChooseSlow()
    {
        _slow.Clear();
        for (int i = 0; i < Slowness * 2; i++) _slow.Add((random.Next(world.Members.Count), random.Next(world.Members.Count)));
    }

    public void Disturb()
    {
        var alive = world.Members.FindAll(m => m.InView);
        var one = alive[random.Next(alive.Count)];
        if (LostLinks > 0 && random.Next(2) == 0)
        {
            LoseLink(one, alive);
            return;
        }
        if (Lapses > 0 && random.Next(2) == 0)
        {
            Lapses--;
            if (Happens("lease lost at", one)) one.LeaseFrom = world.Now + 1_000_000 + random.Next(200_000_000);
            return;
        }
        switch (random.Next(Leaves > 0 ? 8 : 4))
        {
            case 0 when Crashes > 0 && alive.Count > 2:
                Crashes--;
                bool throws = Throws > 0 && !world.IsStalled(one);
                if (throws) Throws--;
                if (!Happens(throws ? "turn throws" : "crash", one)) break;
                if (throws) world.Fault(one);
                else world.Crash(one);
                _viewDue = true;
                break;
            case 1 when Exclusions > 0 && alive.Count > 2:
                Exclusions--;
                if (!Happens("exclusion of", one)) break;
                Change(one);
                break;
            case 2 when Joins > 0:
                Joins--;
                if (!Happens("join beside", one)) break;
                var joiner = world.Add();
                Change();
                joiner.Enable(world.Options, world.Declare);
                break;
            case 3 when Views > 0:
                Views--;
                if (Happens("view asked for at", one)) Change();
                break;
            case >= 4 when !one.Host.Current!.IsLeaving:
                Leaves--;
                if (!Happens("leave of", one)) break;
                BlockSome(one);
                one.BeginToLeave();
                break;
        }
    }

    /// <summary>In some schedules a leaver has no contact, for less time than the hand-over may take.</summary>
    public void BlockSome(HarnessMember leaver)
    {
        if (Blocks is null || Blocks.Next(2) != 0) return;
        Happened?.Invoke(LeftBlocked);
        leaver.Block(TimeSpan.FromMilliseconds(1 + Blocks.Next(500)));
    }

    /// <summary>Loses a link of the member, one with something on it if there is one.</summary>
    private void LoseLink(HarnessMember one, List<HarnessMember> alive)
    {
        LostLinks--;
        var others = alive.FindAll(other => other != one);
        var busy = others.FindAll(other => world.Waiting(one.Index, other.Index) + world.Waiting(other.Index, one.Index) > 0);
        if (busy.Count > 0) others = busy;
        if (others.Count == 0) return;
        var to = others[random.Next(others.Count)];
        if (Happens($"link to m{to.Index} lost at", one, "link lost")) world.LoseLink(one, to);
    }

    public void Change(params HarnessMember[] exclude)
    {
        _viewDue = false;
        ViewChanges++;
        world.ChangeView(exclude);
        NoticeDepopulation();
    }

    public void NoticeDepopulation() => Depopulated = world.NobodyHasATable || world.Members.Exists(m => m.Dht?.Completion.Exception?.InnerException is ShardDepopulatedException);

    /// <summary>One of the excluded members learns of its exclusion.</summary>
    public void ExcludeOne()
    {
        var gone = world.Members.FindAll(m => m.Alive && m.Excluded);
        if (gone.Count == 0) return;
        world.Exclude(gone[0]);
        gone[0].Alive = false;
    }

    /// <summary>Ends all faults: makes the view change that is due, and tells every excluded member of its exclusion.</summary>
    public void End()
    {
        if (_viewDue) Change();
        while (world.Members.Exists(m => m.Alive && m.Excluded)) ExcludeOne();
    }

    private bool Happens(string name, HarnessMember member, string? kind = null)
    {
        if (!run.Happens($"{name} m{member.Index} after {world.Deliveries} deliveries")) return false;
        Happened?.Invoke(kind ?? name);
        return true;
    }
}
