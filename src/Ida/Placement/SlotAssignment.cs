using GroupCore.Membership;
using GroupCore.Runtime;

namespace Ida.Placement;

/// <summary>
/// The next slots from the old ones: repairs holes with few moves and never takes the last full member of a shard. Pure: every member
/// runs it on the same input at the view boundary. Source: ida 4.3 (rules 1-5), 2.5 (R10).
/// </summary>
/// <remarks>
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
            if (slots[slot].Taken) population[slot % shards]++;
        while (slots.Count < shards) slots.Add(SlotState.Hole);
        int next = 0;
        var passed = new bool[slots.Count];
        while (NextHole(slots, population, passed) is var hole and >= 0)
        {
            int shard = hole % shards;
            if (next < newcomers.Count)
            {
                slots[hole] = new(newcomers[next++], false);
                population[shard]++;
            }
            else if (Donor(slots, shards, population, hole, without) is var donor and >= 0)
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
        while (slots.Count > 0 && !slots[^1].Taken) slots.RemoveAt(slots.Count - 1);
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
            if (slots[slot].Taken && slot % shards == shard) return slot;
        for (int slot = slots.Count - 1; slot >= 0; slot--)
        {
            int other = slot % shards;
            if (!slots[slot].Taken || other == shard || population[other] < population[shard] + 2) continue;
            if (without == Rule.SwapKeepsFull || AnotherFull(slots, shards, slot)) return slot;
        }
        return -1;
    }

    private static bool AnotherFull(List<SlotState> slots, int shards, int slot)
    {
        for (int other = slot % shards; other < slots.Count; other += shards)
            if (other != slot && slots[other].Taken && slots[other].Full) return true;
        return false;
    }
}
