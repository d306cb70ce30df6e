using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Maps;
using Ida.Placement;
using Ida.Shared;

namespace Ida.ViewChange;

/// <summary>
/// The decision of all members, computed from the contributions at a view change: which puts are committed at which time, which member holds which slot.
/// A pure function of the contributions and the next view, so it needs no message. Source: dht-view-change.md#commit-what-all-surviving-participants-hold,
/// #drop-what-a-survivor-lacks, #holes-are-filled-with-few-moves.
/// </summary>
/// <remarks>
/// A put is committed when any survivor knows its time, or when every surviving participant holds it: then at the largest surviving
/// proposal. A caller that was told "done" had proposals from all participants: so all survivors hold the put and it is committed; and no
/// participant can have executed it without a time, which is the maximum over all. All other puts are dropped, by all members alike.
/// Only its participants hold a put. All its holders name the same participants: a put named with other participants is another put. So a
/// member that takes no part in a put decides nothing of it, whatever participants it names.
/// No time beyond <see cref="_limit"/> is taken, so that no single contribution moves any member's clock far.
/// At the foundation, slots are filled in rank order, as soon as there is a member for every shard. The configuration that counts is
/// that of the founded DHT; before the foundation, that of the member admitted first. So with maps: a member that contradicts one admitted before it is refused.
/// </remarks>
internal sealed class Decision
{
    private readonly Dictionary<AttemptId, Held> _held = [];
    private readonly Dictionary<ProcessId, string> _refused = [];
    private readonly Dictionary<ProcessId, Contribution> _from = [];

    /// <summary>
    /// The latest time of a put. Its coordinator suggests no time more than <see cref="HybridClock.Jump"/> ahead of a participant, and takes no proposal that far
    /// ahead of its suggestion. So the time of a put that two members hold is at most twice that ahead of both. One of the two is not beyond the second
    /// latest of all claimed times, and no single contribution makes that one later than what another member claims.
    /// </summary>
    private ulong _limit;

    public DecisionKind Kind { get; private set; }

    public ulong Incarnation { get; private set; }

    /// <summary>Number of members that had enabled the DHT before the foundation.</summary>
    public int Enabled { get; private set; }

    /// <summary>Whether the DHT was founded at this view change, empty.</summary>
    public bool Founded { get; private set; }

    public int DepopulatedShard { get; private set; } = -1;

    public List<SlotState> Slots { get; private set; } = [];

    /// <summary>Which maps can be used in the view.</summary>
    public MapAgreement Maps { get; } = new();

    /// <summary>Sessions of the members with a slot, by slot.</summary>
    public List<UInt128> Sessions { get; } = [];

    /// <summary>The physical clock to align with; below, the highest time that a member knows to be committed.</summary>
    public ulong Physical { get; private set; }

    public ulong Committed { get; private set; }

    /// <summary>A time that two members, or the only member, have reached: a newcomer may go up to it too, however far behind its clock is.</summary>
    public ulong Ground { get; private set; }

    /// <summary>The time at which a put with these participants is committed; false when it is dropped.</summary>
    public bool TryCommit(in AttemptId op, ReadOnlySpan<ushort> participants, out ulong time)
    {
        var held = _held.GetValueOrDefault(op)?.Find(participants);
        time = held?.Commit ?? 0;
        return held is { Commit: not null };
    }

    /// <summary>Why this member is not admitted, or is no longer a member; null when it is one.</summary>
    public string? Refusal(ProcessId member) => _refused.GetValueOrDefault(member);

    public UInt128 SessionOf(ProcessId member) => _from.GetValueOrDefault(member)?.Session ?? UInt128.Zero;

    public static Decision Decide(IReadOnlyList<LayerContribution> contributions, View next, DhtRules? rules = null)
    {
        var all = new List<Contribution>(contributions.Count);
        var declared = new List<MapSet>();
        foreach (var one in contributions)
            if (next.RankOf(one.Member) >= 0 && Contribution.Read(one.Member, one.Bytes.Span, declared) is { Enabled: true } read) all.Add(read);
        var decision = new Decision();
        decision.Run(all, next, rules ?? DhtRules.All);
        return decision;
    }

    private void Run(List<Contribution> all, View next, DhtRules rules)
    {
        foreach (var one in all)
        {
            Incarnation = Math.Max(Incarnation, one.Incarnation);
            _from[one.Member] = one;
        }
        var members = all.FindAll(one => one.Incarnation != 0 && one.Incarnation == Incarnation && one.Slot >= 0);
        var candidates = BySeniority(members.Count > 0 ? members : all);
        if (candidates.Count == 0) return;
        var config = candidates[0].Config;
        DecideClock(members.Count > 0 ? members : all);
        if (members.Count > 0)
        {
            // Members are checked too, in case one lies: with other options its keys lie elsewhere.
            foreach (var one in candidates) Check(one, config);
            Maps.Settle();
        }
        foreach (var one in BySeniority(all.FindAll(static one => one.Incarnation == 0))) Check(one, config);
        List<ProcessId> newcomers = [.. all.Where(one => one.Incarnation == 0 && !_refused.ContainsKey(one.Member)).Select(static one => one.Member)];
        if (members.Count == 0) Found(newcomers, config, next.Id);
        else Continue(members, newcomers, config, rules);
        foreach (var slot in Slots)
        {
            if (!slot.Taken) continue;
            Sessions.Add(_from[slot.Member].Session);
            // A refused member has no say any more.
            if (!_refused.ContainsKey(slot.Member)) Maps.Hold(slot.Member, _from[slot.Member].Maps);
        }
    }

    private void Check(Contribution one, DhtConfig config)
    {
        if ((one.Config.Difference(config) ?? Maps.Take(one.Maps)) is { } difference) _refused[one.Member] = difference;
    }

    /// <summary>Members admitted earlier come first; of those admitted together, the ones with lower ranks.</summary>
    private static List<Contribution> BySeniority(List<Contribution> all) => [.. all.OrderBy(static one => one.Admitted == 0 ? ulong.MaxValue : one.Admitted)];

    /// <summary>Takes the median of the physical clocks, which a single wrong clock does not move far; of two clocks the lower one, which is never out of range.</summary>
    private void DecideClock(List<Contribution> from)
    {
        var clocks = from.ConvertAll(static one => one.Physical);
        clocks.Sort();
        Physical = clocks[(clocks.Count - 1) / 2];
        ulong latest = 0, second = 0;
        foreach (var one in from)
        {
            Committed = Math.Max(Committed, one.Committed);
            ulong claimed = Math.Max(one.Physical, one.Committed);
            second = Math.Max(second, Math.Min(claimed, latest));
            latest = Math.Max(latest, claimed);
        }
        Ground = Math.Min(from.Count == 1 ? latest : second, HybridClock.MaxTime);
        _limit = Math.Min(Ground + (2 * HybridClock.Jump), HybridClock.MaxTime);
    }

    private void Found(List<ProcessId> newcomers, DhtConfig config, ulong view)
    {
        Enabled = newcomers.Count;
        if (newcomers.Count < config.Shards) return;
        Kind = DecisionKind.Serving;
        Founded = true;
        Incarnation = view;
        foreach (var member in newcomers) Slots.Add(new(member, true));
    }

    private void Continue(List<Contribution> members, List<ProcessId> newcomers, DhtConfig config, DhtRules rules)
    {
        DecideOperations(members, rules);
        foreach (var one in members)
        {
            while (Slots.Count <= one.Slot) Slots.Add(SlotState.Hole);
            Slots[one.Slot] = new(one.Member, one.Initialised, Leaving: one.Leaving);
        }
        // With fewer members than shards one shard is lost, whatever the assignment.
        if (members.Count >= config.Shards) SlotAssignment.Assign(Slots, config.Shards, newcomers, rules);
        Kind = DecisionKind.Serving;
        for (int shard = 0; shard < config.Shards && Kind == DecisionKind.Serving; shard++)
        {
            bool initialised = false;
            for (int slot = shard; slot < Slots.Count; slot += config.Shards) initialised |= Slots[slot].Taken && Slots[slot].Initialised;
            if (initialised) continue;
            Kind = DecisionKind.Depopulated;
            DepopulatedShard = shard;
        }
    }

    private void DecideOperations(List<Contribution> members, DhtRules rules)
    {
        var order = new List<Held>();
        var atSlot = new HashSet<int>();
        foreach (var one in members)
        {
            atSlot.Add(one.Slot);
            foreach (var op in one.Unsettled)
            {
                if (Array.IndexOf(op.Participants, (ushort)one.Slot) < 0) continue;
                if (!_held.TryGetValue(op.Key, out var first)) _held.Add(op.Key, first = new(op.Participants));
                // A member that names a put twice holds it once.
                if (first.LastNamed == one.Slot) continue;
                first.LastNamed = one.Slot;
                var state = first.FindOrAdd(op.Participants);
                if (state.Holders++ == 0) order.Add(state);
                state.Proposed = Math.Max(state.Proposed, op.Proposed);
                state.Time = Math.Max(state.Time, op.Time);
            }
        }
        foreach (var state in order)
        {
            int surviving = 0;
            foreach (ushort slot in state.Participants)
                if (atSlot.Contains(slot)) surviving++;
            bool byAll = state.Holders >= surviving || !rules.FlushNeedsAllHolders;
            if (!rules.FlushCommitsHeld) byAll = false;
            if (state.Time == 0 && !byAll) continue;
            ulong time = Math.Min(state.Time != 0 ? state.Time : state.Proposed, _limit);
            state.Commit = time;
            // All members align with it, not only those that hold the put.
            Committed = Math.Max(Committed, time);
        }
    }

    /// <summary>What members said of an attempt with the same participants.</summary>
    private sealed class Held(ushort[] participants)
    {
        private Held? _other;

        public readonly ushort[] Participants = participants;
        public int Holders, LastNamed = -1;
        public ulong Proposed, Time;
        public ulong? Commit;

        /// <summary>The state for these participants. Each member names an attempt once, so there are at most as many as members.</summary>
        public Held? Find(ReadOnlySpan<ushort> participants)
        {
            for (var held = this; held is not null; held = held._other)
                if (participants.SequenceEqual(held.Participants)) return held;
            return null;
        }

        public Held FindOrAdd(ushort[] participants) => Find(participants) ?? (_other = new(participants) { _other = _other });
    }
}
