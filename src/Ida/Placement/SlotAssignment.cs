using GroupCore.Membership;
using GroupCore.Runtime;

namespace Ida.Placement;

/// <summary>
/// The next slots from the old ones: repairs holes with few moves and never takes the last full member of a shard. Pure: every member
/// runs it on the same input at the view boundary. Source: ida 4.3 (rules 1-5), 4.5 (leaving), 2.5 (R10).
/// </summary>
/// <remarks>
/// Leavers are not counted. They keep their slots only where they alone have the state of a shard and another member of it is, or can be,
/// initialised from them; else their slots are holes at once. A shard that only leavers hold gets a hole to be filled if it has none.
/// Slot r belongs to shard r mod NS. Holes are filled in the order of (population of their shard, slot), found anew after each fill:
/// by a newcomer; else by the highest member of the same shard, which moves no data; else by the highest member of a shard that has at
/// least two members more and another full one; else the hole stays and the shard runs below its size. Each move of the last kind brings
/// the populations closer, and each of the second moves a hole up, so the loop ends.
/// </remarks>
internal static class SlotAssignment
{
    /// <summary>Replaces <paramref name="slots"/> (holes where members were lost) by the next assignment.</summary>
    public static void Assign(List<SlotState> slots, int shards, IReadOnlyList<ProcessId> newcomers, Rule without = Rule.None)
    {
        var population = new int[shards];
        for (int slot = 0; slot < slots.Count; slot++)
            if (slots[slot] is { Taken: true, Leaving: false }) population[slot % shards]++;
        LetGo(slots, population, placed: false, without);
        while (slots.Count < shards) slots.Add(SlotState.Hole);
        int next = 0, regular = slots.Count;
        MakeRoom(slots, population);
        var passed = new bool[slots.Count];
        while (NextHole(slots, population, passed) is var hole and >= 0)
        {
            int shard = hole % shards;
            if (next < newcomers.Count)
            {
                slots[hole] = new(newcomers[next++], false);
                population[shard]++;
            }
            else if ((hole < regular || population[shard] == 0) && Donor(slots, shards, population, hole, without) is var donor and >= 0)
            {
                bool same = donor % shards == shard;
                slots[hole] = slots[donor] with { Full = same && slots[donor].Full };
                slots[donor] = SlotState.Hole;
                population[donor % shards]--;
                population[shard]++;
                if (!same) Array.Clear(passed);
            }
            else
            {
                passed[hole] = true;
            }
        }
        while (next < newcomers.Count) slots.Add(new(newcomers[next++], false));
        LetGo(slots, population, placed: true, without);
        while (slots.Count > 0 && !slots[^1].Taken) slots.RemoveAt(slots.Count - 1);
    }

    /// <summary>Takes leavers out that nobody needs, or that nobody can be initialised from once all others are <paramref name="placed"/>.</summary>
    private static void LetGo(List<SlotState> slots, int[] population, bool placed, Rule without)
    {
        int shards = population.Length;
        for (int slot = 0; slot < slots.Count; slot++)
        {
            if (!slots[slot].Leaving) continue;
            int shard = slot % shards;
            bool needed = slots[slot].Full && without != Rule.LeaverStaysAsSource && !AnotherFull(slots, shards, slot);
            if (!needed || (placed && population[shard] == 0)) slots[slot] = SlotState.Hole;
        }
    }

    /// <summary>A hole for each shard that only leavers hold.</summary>
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

    private static int NextHole(List<SlotState> slots, int[] population, bool[] passed)
    {
        int best = -1;
        for (int slot = 0; slot < passed.Length; slot++)
        {
            if (slots[slot].Taken || passed[slot]) continue;
            if (best < 0 || population[slot % population.Length] < population[best % population.Length]) best = slot;
        }
        return best;
    }

    private static int Donor(List<SlotState> slots, int shards, int[] population, int hole, Rule without)
    {
        int shard = hole % shards;
        for (int slot = slots.Count - 1; slot > hole; slot--)
            if (slots[slot] is { Taken: true, Leaving: false } && slot % shards == shard) return slot;
        for (int slot = slots.Count - 1; slot >= 0; slot--)
        {
            int other = slot % shards;
            if (!slots[slot].Taken || slots[slot].Leaving || other == shard || population[other] < population[shard] + 2) continue;
            if (without == Rule.SwapKeepsFull || AnotherFull(slots, shards, slot)) return slot;
        }
        return -1;
    }

    /// <summary>Whether another member has the shard's state and stays.</summary>
    private static bool AnotherFull(List<SlotState> slots, int shards, int slot)
    {
        for (int other = slot % shards; other < slots.Count; other += shards)
            if (other != slot && slots[other] is { Taken: true, Full: true, Leaving: false }) return true;
        return false;
    }
}
