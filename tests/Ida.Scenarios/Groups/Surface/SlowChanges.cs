using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>
/// View changes that handlers hold up, in groups that evict. One handler blocks for about as long as the group tolerates, and then sends what makes another block, too.
/// Neither member may be taken for slow because of the time of both. Some handlers block for longer than members report it before the slow one must go.
/// </summary>
internal sealed class SlowChanges(GroupSurface surface)
{
    private const int LongestSaid = 10_000;
    // Its own random numbers, so that schedules without such groups stay what they are.
    private readonly Prng _random = new(surface.Case.Seed ^ 0x510C4A);

    public void Begin(SharedGroup group)
    {
        if (group.Evicts && !group.Inline && _random.Chance(0.8)) Later(group, 1, 2_000);
    }

    /// <summary>What the handler of one such message sends to another member.</summary>
    public void Relay(GroupSeat seat)
    {
        int members = seat.Group!.CurrentView.Members.Count;
        if (members > 1) surface.Calls.SendTo(seat, DrawBlock(seat.Shared, Deed.Block, nested: true, (seat.Group.CurrentView.RankOf(seat.Id) + 1 + _random.Next(members - 1)) % members), nested: true);
    }

    private void Later(SharedGroup group, int least, int most) => surface.Simulation.After(TimeSpan.FromMilliseconds(_random.Next(least, most)), () =>
    {
        if (surface.IsOver) return;
        var members = surface.Places.SelectMany(static place => place.Seats).Where(seat => seat.Shared == group && seat.IsUsable).ToList();
        if (members.Count > 1) Draw(group, members);
        Later(group, 500, 3_000);
    });

    private void Draw(SharedGroup group, List<GroupSeat> members)
    {
        var sender = members[_random.Next(members.Count)];
        int count = sender.Group!.CurrentView.Members.Count;
        if (count < 2) return;
        surface.Drawn.Draw(GroupNames.SlowChange);
        int slow = (sender.Group.CurrentView.RankOf(sender.Id) + 1 + _random.Next(count - 1)) % count;
        surface.Calls.SendTo(sender, DrawBlock(group, _random.Chance(0.7) ? Deed.Relay : Deed.Block, nested: false, slow), nested: false);
        var joiner = surface.Places.Find(place => place.IsActive && !place.Seats.Exists(seat => seat.Shared == group && seat.IsOpen));
        var leaver = members.Find(member => member != sender && member.Id != sender.Group.CurrentView.Members[slow].Id) ?? sender;
        surface.Simulation.After(TimeSpan.FromMilliseconds(_random.Next(1, 100)), () =>
        {
            if (surface.IsOver) return;
            if (joiner is { IsActive: true } && surface.Join(joiner, group) is not null) return;
            if (leaver.IsUsable) surface.Calls.Leave(leaver, default);
        });
    }

    private Letter DrawBlock(SharedGroup group, Deed deed, bool nested, int rank)
    {
        long bears = (long)group.Options.SlowMemberTimeout.TotalMilliseconds;
        return new(surface.NextId(ordered: false, nested), deed, rank, (int)_random.Next(bears / 2, (2 * bears) + (_random.Chance(0.3) ? LongestSaid : 0)));
    }
}
