using Ida.Ordering;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// Reads at level Ordered whose sight was lost with the member that gave it: they are not judged.
/// </summary>
/// <remarks>
/// Such a read waits for the order at the member that answers, not for stability (ida 2.6). That a put had its turn there follows from what this
/// member proposed for the puts that conflict with it; where it is lost before their times are known elsewhere, the boundary takes them from
/// the proposals that are left (4.8), which may be below the time of what was read, so that other puts come before it. To put them behind it
/// instead would be wrong as often: who is lost may have coordinated one of them, and shown it first, and what survivors contribute is the
/// same in both cases. Uniformity (S2) is of level Strict, where a read waits until its writer is stable: then no proposal below its time is left.
/// What a survivor had executed too stays as it was shown, whoever showed it: it is judged, as is everything where nobody was lost. But for a key of which
/// a put was open: that it comes behind the read may follow from the clock of the lost member alone, and what the read saw instead is the same everywhere
/// (a read saw a put at one replica, and at one that was excluded that an earlier put had not come, which it never did there).
/// </remarks>
/// <param name="versions">What a member's slice holds: the name of each entry, and its version.</param>
internal sealed class LostSights(Func<HarnessMember, LocalSlice, IEnumerable<(string Key, ulong Version)>> versions)
{
    private readonly List<(string Op, List<(string Key, ulong Version)> Seen)> _ofThisView = [];
    private static readonly byte[] s_emptyList = [0x90];
    private readonly HashSet<string> _known = [], _lost = [];

    /// <summary>How many reads are not judged.</summary>
    public int Count => _lost.Count;

    /// <summary>A read has returned these, with version 0 what it did not find; told once more it is the same.</summary>
    public void Returned(string op, IEnumerable<(string Key, ulong Version)> read)
    {
        if (_known.Add(op)) _ofThisView.Add((op, [.. read]));
    }

    /// <summary>The view has ended, and nothing of it is decided yet.</summary>
    public void Boundary(IReadOnlyCollection<HarnessMember> survivors, IReadOnlyCollection<HarnessMember> lost)
    {
        if (lost.Count > 0 && _ofThisView.Count > 0)
        {
            var kept = survivors.Select(Executed).ToList();
            var gone = lost.Select(Executed).ToList();
            var earlier = Earlier(survivors, lost);
            foreach (var (op, seen) in _ofThisView)
                if (seen.Exists(one => earlier.Contains(one.Key) || (!Show(kept, one) && Show(gone, one)))) _lost.Add(op);
        }
        _ofThisView.Clear();
    }

    /// <summary>The history with nothing said of what these reads returned.</summary>
    public History Without(History history) => _lost.Count == 0 ? history : History.FromEvents(history.Events.Select(e =>
        e is { Type: HistoryEventType.Ok, Op: { } op } && _lost.Contains(op) ? e with { Type = HistoryEventType.Info, Values = null, Versions = null } : e));

    // Who executed a later put of a key has executed those before it. A removal leaves no version: it is gone where somebody has the key.
    private static bool Show(List<Dictionary<string, ulong>> of, (string Key, ulong Version) seen) => seen.Version > 0
        ? of.Exists(all => all.TryGetValue(seen.Key, out ulong here) && here >= seen.Version)
        : of.TrueForAll(all => !all.ContainsKey(seen.Key));

    /// <summary>
    /// Keys of open puts for which a lost member of their shards would have a later time than the survivors that hold them: it has proposed one, or would when the
    /// put came, since it has given the key a later time already.
    /// </summary>
    private HashSet<string> Earlier(IReadOnlyCollection<HarnessMember> survivors, IReadOnlyCollection<HarnessMember> lost)
    {
        var kept = new Dictionary<OpKey, ulong>();
        foreach (var member in survivors)
            foreach (var put in Open(member)) kept[put.Key] = Math.Max(kept.GetValueOrDefault(put.Key), put.Committed ? put.Time : put.Proposed);
        var keys = new HashSet<string>();
        foreach (var member in survivors)
            foreach (var put in Open(member))
                foreach (var use in put.Uses.AsSpan(0, put.UseCount))
                    if (lost.Any(one => IsLater(one, member, use.Entry, kept[put.Key]))) keys.UnionWith(Name(member, use));
        return keys;
    }

    private static IEnumerable<OpRecord> Open(HarnessMember member)
    {
        for (var op = member.Host.Current?.Participant.Oldest; op is not null; op = op.Newer)
            if (op.IsPut && !op.Executed) yield return op;
    }

    private static bool IsLater(HarnessMember lost, HarnessMember holder, Entry entry, ulong time) =>
        lost.Host.Current is { } layer && layer.State.Shard == holder.Host.Current!.State.Shard
        && (layer.Participant.Table.Find(entry.Key, entry.Hash)?.Clock ?? layer.State.Clock.Heard) > time;

    // What is put may be an element for the resolver of a list: a name needs any value of the map's type.
    private List<string> Name(HarnessMember member, KeyUse use)
    {
        foreach (byte[]? value in (byte[]?[])[use.Entry.Value, s_emptyList, use.Incoming])
        {
            if (value is null) continue;
            try
            {
                return [.. versions(member, new(0, 0, 0, true, 0, [new(use.Entry.Key, 0, value)])).Select(static e => e.Key)];
            }
            catch (InvalidDataException)
            {
                // Of another type.
            }
        }
        return [];
    }

    /// <summary>What a full member has executed, without a turn of it.</summary>
    private Dictionary<string, ulong> Executed(HarnessMember member)
    {
        if (member.Host.Current is not { State: { Full: true } state } layer) return [];
        var entries = new List<LocalEntry>();
        var some = new List<Entry>();
        for (int range = 0; range < EntryTable.Ranges; range++)
        {
            layer.Participant.Table.Collect(range, some);
            foreach (var entry in some)
                if (entry.Value is { } value) entries.Add(new(entry.Key, entry.Version, value));
        }
        return versions(member, new(state.View, state.Shard, state.Slot, state.Full, 0, entries)).ToDictionary(static e => e.Key, static e => e.Version);
    }
}
