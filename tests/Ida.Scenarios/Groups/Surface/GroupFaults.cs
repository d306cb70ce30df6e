using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>The faults of processes and of the network between them. Faults that may cost a membership come one at a time.</summary>
internal sealed class GroupFaults(GroupSurface surface)
{
    private const int Junk = 1_000_000;
    private static readonly TimeSpan s_rest = TimeSpan.FromSeconds(3);
    private readonly Prng _random = surface.Random.Fork();
    private TimeSpan _next;

    private Simulation Simulation => surface.Simulation;

    public void Draw()
    {
        var active = surface.Places.FindAll(static place => place.IsActive && place.IsAwake);
        if (active.Count == 0) return;
        var one = active[(int)_random.Next(active.Count)];
        var other = active[(int)_random.Next(active.Count)];
        int what = (int)_random.Next(8);
        var details = _random.Fork();
        bool Happens(string name) => surface.Case.Happens($"{name} {one.Member} {other.Member} at {Simulation.Now}");
        switch (what)
        {
            case 0 when MayCost(active):
                if (!Happens("crash")) break;
                Begin(GroupNames.Crash, CallTable.Of(FaultKind.Crash));
                Cost();
                one.Crash(details.Chance(0.7));
                if (details.Chance(0.6)) Simulation.After(TimeSpan.FromMilliseconds(details.Next(20, 3_000)), () => surface.Restart(one));
                break;
            case 1 when MayCost(active):
                if (!Happens("partition")) break;
                Begin(GroupNames.Partition, CallTable.Of(FaultKind.Partition));
                Cost();
                Simulation.Network.Partition(details.Chance(0.5) ? CutMode.Hold : CutMode.Drop, [one.Member.Host]);
                Simulation.After(TimeSpan.FromMilliseconds(details.Chance(0.7) ? details.Next(10, 400) : details.Next(400, 6_000)), Simulation.Network.Heal);
                break;
            case 2 when other != one:
                if (!Happens("break")) break;
                Begin(GroupNames.Break, CallTable.Of(FaultKind.Break));
                if (details.Chance(0.3)) OneWay(one.Member.Host, other.Member.Host, TimeSpan.FromMilliseconds(details.Next(10, 3_000)));
                Simulation.Network.Break(one.Member.Host, other.Member.Host);
                break;
            case 3 when other != one:
                if (!Happens("slow link")) break;
                Begin(GroupNames.SlowLink, CallTable.Of(FaultKind.Slow));
                Simulation.Network.Slow(one.Member.Host, other.Member.Host, details.Chance(0.4) ? 1 : details.Next(2, 60));
                break;
            case 4:
                if (!Happens("pause")) break;
                Pause(one, TimeSpan.FromMilliseconds(details.Next(1, 300)), details.Chance(0.3));
                break;
            case 5 when MayCost(active):
                if (!Happens("long pause")) break;
                surface.Drawn.Draw(GroupNames.PauseLong);
                Cost();
                Pause(one, TimeSpan.FromMilliseconds(details.Next(2_000, 6_000)), details.Chance(0.3));
                break;
            case 6:
                if (!Happens("slow node")) break;
                Begin(GroupNames.SlowNode, CallTable.Of(FaultKind.Busy));
                one.Member.Host.SlowFactor = details.Next(2, 200);
                break;
            case 7 when other != one && MayCost(active):
                // A lost message to one member is never acknowledged, and a member that does not acknowledge is suspected.
                Cost();
                Overflow(one, other);
                break;
        }
    }

    /// <summary>Whether a process may lose its place now; if so, no other may for a while. The process that has just lost its place may lose it again without that wait.</summary>
    public bool TryCost(bool again = false)
    {
        var active = surface.Places.FindAll(static place => place.IsActive && place.IsAwake);
        if (!(again ? active.Count > 2 && active.Count == surface.Places.Count : MayCost(active))) return false;
        Cost();
        return true;
    }

    /// <summary>The last fault. No view changes by itself afterwards, so what a link loses now arrives only if the link's users hear of the loss.</summary>
    public void OverflowLast()
    {
        var active = surface.Places.FindAll(static place => place.IsActive && place.IsAwake);
        if (active.Count < 2) return;
        var one = active[(int)_random.Next(active.Count)];
        var other = active[(int)_random.Next(active.Count)];
        if (other != one) Overflow(one, other);
    }

    // The other end makes the connection again, at once.
    private void OneWay(SimNode from, SimNode to, TimeSpan time)
    {
        Begin(GroupNames.OneWay, "fault: OneWay");
        Simulation.Network.LetDial(from, to, lets: false);
        Simulation.After(time, () => Simulation.Network.LetDial(from, to, lets: true));
    }

    /// <summary>Sends more in one turn than a link takes: the link ends, and both ends lose what is on its way.</summary>
    private void Overflow(GroupPlace one, GroupPlace other)
    {
        if (!surface.Case.Happens($"overflow {one.Member} {other.Member} at {Simulation.Now}")) return;
        Begin(GroupNames.Overflow, "fault: Overflow");
        var (from, to) = (one.Member.Host, other.Member.Host);
        from.Post(() =>
        {
            var links = from.Node.Links;
            int peer = links.Open(to.Address, to.Id);
            for (long bytes = 0; bytes <= LinkLimits.QueueBytes; bytes += Junk)
            {
                FrameHeader.Write(links.Reserve(FrameHeader.Size + Junk), FrameType.FirstLayer, 0, 0, Junk);
                links.Send(peer, FrameHeader.Size + Junk);
            }
        });
    }

    private void Pause(GroupPlace one, TimeSpan time, bool inTurn)
    {
        Begin(GroupNames.Pause, CallTable.Of(FaultKind.Pause));
        one.Stall(time);
        if (inTurn) one.Member.Host.PauseInTurn(time);
        else one.Member.Host.Pause(time);
    }

    private void Begin(string name, string column)
    {
        surface.Drawn.Draw(name);
        surface.Open.Meet(column);
    }

    // Two at once may take the majority of the voters: then only safety would be judged.
    private bool MayCost(List<GroupPlace> active) => Simulation.Now >= _next && active.Count > 2 && active.Count == surface.Places.Count;

    private void Cost() => _next = Simulation.Now + s_rest;
}
