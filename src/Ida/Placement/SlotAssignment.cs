using GroupCore.Membership;

namespace Ida.Placement;

/// <summary>
/// Computes the next slots from the old ones: repairs holes with few moves and never takes the last initialised member of a shard. Pure: every member
/// runs it on the same input at the view change. Source: dht-view-change.md#holes-are-filled-with-few-moves, #a-swap-leaves-an-initialised-member-behind,
/// #a-leaver-stays-as-the-source.
/// </summary>
/// <remarks>
/// Leavers are not counted. A leaver keeps its slot only if it alone has the state of a shard and another member of that shard is being, or can
/// be, initialised from it; otherwise its slot is a hole at once. A shard that only leavers hold gets a hole to be filled if it has none.
/// Slot r belongs to shard r mod NS, the number of shards. Holes are filled in the order of (population of their shard, slot), computed anew after each fill:
/// by a newcomer; else by the highest member of the same shard, which moves no data; else by the highest member of a shard that has at
/// least two members more and another initialised one; else the hole stays and the shard runs below its size. Each move of the last kind brings
/// the populations closer, and each of the second moves a hole up, so the loop ends.
/// One member's contribution may name a very high slot. So each shard's holes are walked upwards once, and again only after a move of the last kind.
/// Where a hole stays, the holes above it stay too, for the same reason.
/// </remarks>
internal static class SlotAssignment
{
    /// <summary>
    /// Replaces <paramref name="slots"/> (holes where members were lost) by the next assignment. Returns the number of slots looked at, for
    /// tests of that cost.
    /// </summary>
    public static long Assign(List<SlotState> slots, int shards, IReadOnlyList<ProcessId> newcomers, DhtRules? rules = null)
    {
        rules ??= DhtRules.All;
        var population = new int[shards];
        for (int slot = 0; slot < slots.Count; slot++)
            if (slots[slot] is { Taken: true, Leaving: false }) population[slot % shards]++;
        LetGo(slots, population, placed: false, rules);
        while (slots.Count < shards) slots.Add(SlotState.Hole);
        int next = 0, regular = slots.Count;
        MakeRoom(slots, population);
        long looks = 0;
        var holes = new int[shards];
        Restart(holes);
        while (NextHole(slots, population, holes, ref looks) is var hole and >= 0)
        {
            int shard = hole % shards;
            if (next < newcomers.Count)
            {
                slots[hole] = new(newcomers[next++], false);
                population[shard]++;
            }
            else if ((hole < regular || population[shard] == 0) && Donor(slots, population, hole, rules, ref looks) is var donor and >= 0)
            {
                bool same = donor % shards == shard;
                slots[hole] = slots[donor] with { Initialised = same && slots[donor].Initialised };
                slots[donor] = SlotState.Hole;
                population[donor % shards]--;
                population[shard]++;
                if (!same) Restart(holes);
            }
            else
            {
                holes[shard] = slots.Count;
            }
        }
        while (next < newcomers.Count) slots.Add(new(newcomers[next++], false));
        LetGo(slots, population, placed: true, rules);
        while (slots.Count > 0 && !slots[^1].Taken) slots.RemoveAt(slots.Count - 1);
        return looks;
    }

    /// <summary>Removes leavers that are not needed, or, once all other members are <paramref name="placed"/>, from which no member can be initialised.</summary>
    private static void LetGo(List<SlotState> slots, int[] population, bool placed, DhtRules rules)
    {
        int shards = population.Length;
        for (int slot = 0; slot < slots.Count; slot++)
        {
            if (!slots[slot].Leaving) continue;
            int shard = slot % shards;
            bool needed = slots[slot].Initialised && rules.LeaverStaysAsSource && !AnotherInitialised(slots, shards, slot);
            if (!needed || (placed && population[shard] == 0)) slots[slot] = SlotState.Hole;
        }
    }

    /// <summary>Adds a hole for each shard that only leavers hold.</summary>
    private static void MakeRoom(List<SlotState> slots, int[] population)
    {
        int shards = population.Length;
        for (int shard = 0; shard < shards; shard++)
        {
            if (population[shard] > 0) continue;
            bool leavers = false, hole = false;
            for (int slot = shard; slot < slots.Count; slot += shards)
            {
                leavers |= slots[slot].Taken;
                hole |= !slots[slot].Taken;
            }
            if (!leavers || hole) continue;
            while (slots.Count % shards != shard) slots.Add(SlotState.Hole);
            slots.Add(SlotState.Hole);
        }
    }

    private static void Restart(int[] holes)
    {
        for (int shard = 0; shard < holes.Length; shard++) holes[shard] = shard;
    }

    /// <summary>The hole to fill next; <paramref name="holes"/> says for each shard where the search for its first hole begins.</summary>
    private static int NextHole(List<SlotState> slots, int[] population, int[] holes, ref long looks)
    {
        int best = -1;
        for (int shard = 0; shard < holes.Length; shard++)
        {
            ref int hole = ref holes[shard];
            for (looks++; hole < slots.Count && slots[hole].Taken; looks++) hole += holes.Length;
            if (hole >= slots.Count) continue;
            int more = best < 0 ? -1 : population[shard] - population[best % holes.Length];
            if (more < 0 || (more == 0 && hole < best)) best = hole;
        }
        return best;
    }

    private static int Donor(List<SlotState> slots, int[] population, int hole, DhtRules rules, ref long looks)
    {
        int shards = population.Length, shard = hole % shards;
        for (int slot = slots.Count - 1 - ((slots.Count - 1 - hole) % shards); slot > hole; slot -= shards, looks++)
            if (slots[slot] is { Taken: true, Leaving: false }) return slot;
        if (population.Max() < population[shard] + 2) return -1;
        for (int slot = slots.Count - 1; slot >= 0; slot--, looks++)
        {
            int other = slot % shards;
            if (!slots[slot].Taken || slots[slot].Leaving || other == shard || population[other] < population[shard] + 2) continue;
            if (!rules.SwapKeepsInitialised || AnotherInitialised(slots, shards, slot)) return slot;
        }
        return -1;
    }

    /// <summary>Whether another member has the shard's state and stays.</summary>
    private static bool AnotherInitialised(List<SlotState> slots, int shards, int slot)
    {
        for (int other = slot % shards; other < slots.Count; other += shards)
            if (other != slot && slots[other] is { Taken: true, Initialised: true, Leaving: false }) return true;
        return false;
    }
}
