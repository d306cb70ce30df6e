using Ida.Ordering;
using Ida.Testing.Checking;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>
/// Reads at level Ordered whose sight was lost with the member that gave it: they are not judged.
/// </summary>
/// <remarks>
/// Such a read waits for the order at the member that answers, not for stability (dht-order.md#reads-of-one-key). That a put had its turn there follows from what this
/// member proposed for the puts that conflict with it; where it is lost before their times are known elsewhere, the view change takes them from
/// the proposals that are left (4.8), which may be below the time of what was read, so that other puts come before it. To put them behind it
/// instead would be wrong as often: who is lost may have coordinated one of them, and shown it first, and what survivors contribute is the
/// same in both cases. Uniformity (S2) is of level Strict, where a read waits until its writer is stable: then no proposal below its time is left.
/// Only what a lost member answered can be lost so, and of that:
/// what no survivor has executed. What one had executed too stays as it was shown, whoever showed it;
/// and, for a read that has a time, since it is of several keys, that a put had not come: where the survivors know only proposals of it, and that of the lost
/// member would be later than theirs, it may come before the read, though what the read saw instead is the same everywhere (a read saw a put at one
/// replica, and at one that was excluded that an earlier put had not come, which it never did there). Where a survivor knows the time of the put, this is
/// its time, and nothing follows from the clock of the lost member.
/// </remarks>
/// <param name="versions">What a member's slice holds: the name of each entry, and its version.</param>
internal sealed class LostSights(Func<HarnessMember, LocalSlice, IEnumerable<(string Key, ulong Version)>> versions)
{
    // A name needs a value of the map's type.
    private static readonly byte[][] s_values = [[0x90], [0xA0]];
    private readonly List<(string Op, HarnessMember Reader, List<(string Key, ulong Version)> Seen)> _ofThisView = [];
    private readonly List<(HarnessMember Reader, HarnessMember Asked, List<string> Keys)> _questions = [];
    private readonly HashSet<string> _known = [], _lost = [];

    /// <summary>How many reads are not judged.</summary>
    public int Count => _lost.Count;

    /// <summary>A frame leaves: who is asked for which keys.</summary>
    public void Sent(HarnessMember from, HarnessMember to, HarnessFrame frame)
    {
        var body = new BodyReader(frame.Body);
        int keys = 1;
        if (frame.Type == DhtFrame.Propose)
        {
            (bool put, keys) = FrameHead.SkipProposal(ref body);
            if (put) return;
        }
        else if (frame.Type == DhtFrame.Get)
        {
            for (int i = 0; i < 3; i++) _ = body.Var();
            _ = body.U8();
        }
        else return;
        var names = new List<string>();
        for (int i = 0; i < keys; i++) names.AddRange(Name(from, body.Blob(DhtLimits.KeyBytes).ToArray()));
        _questions.Add((from, to, names));
    }

    /// <summary>A read by a member has returned these, with version 0 what it did not find; told once more it is the same.</summary>
    public void Returned(string op, HarnessMember reader, IEnumerable<(string Key, ulong Version)> read)
    {
        if (_known.Add(op)) _ofThisView.Add((op, reader, [.. read]));
    }

    /// <summary>The view has ended, and nothing of it is decided yet.</summary>
    public void ViewChange(IReadOnlyCollection<HarnessMember> survivors, IReadOnlyCollection<HarnessMember> lost)
    {
        // Who has closed its DHT knows no more of what it showed.
        List<HarnessMember> kept = [.. survivors.Where(Knows)], gone = [.. lost, .. survivors.Where(static member => !Knows(member))];
        if (gone.Count > 0 && _ofThisView.Count > 0)
        {
            var open = kept.SelectMany(Open).ToLookup(static put => put.Key, static put => (put.Holder, put.Use));
            var executed = kept.ConvertAll(member => (Member: member, Versions: Executed(member)));
            foreach (var (op, reader, seen) in _ofThisView)
                foreach (var one in seen)
                    foreach (var by in AnsweredBy(reader, one.Key, seen).Where(gone.Contains))
                        if (NobodyExecuted(one, by, [.. open[one.Key]], executed) || (seen.Count > 1 && open[one.Key].Any(put => IsLater(by, put.Use, kept)))) _lost.Add(op);
        }
        _ofThisView.Clear();
        _questions.Clear();
    }

    /// <summary>The history with nothing said of what these reads returned.</summary>
    public History Without(History history) => _lost.Count == 0 ? history : History.FromEvents(history.Events.Select(e =>
        e is { Type: HistoryEventType.Ok, Op: { } op } && _lost.Contains(op) ? e with { Type = HistoryEventType.Info, Values = null, Versions = null } : e));

    private static bool Knows(HarnessMember member) => member.Host.Current is { State.Map: not null };

    /// <summary>Whoever was asked for all keys of its shard that were read; the reader itself where nobody was.</summary>
    private IEnumerable<HarnessMember> AnsweredBy(HarnessMember reader, string key, List<(string Key, ulong Version)> seen)
    {
        var questions = _questions.FindAll(one => one.Reader == reader && one.Keys.Contains(key) && one.Keys.TrueForAll(asked => seen.Exists(of => of.Key == asked)));
        if (questions.Count == 0) return [reader];
        int most = questions.Max(static one => one.Keys.Count);
        var asked = questions.FindAll(one => one.Keys.Count == most).ConvertAll(static one => one.Asked);
        // Who had not its state when it asked may have it by now.
        if (reader.Host.Current is { State.Initialised: true } layer && asked.Exists(one => one.Host.Current?.State.Shard == layer.State.Shard)) asked.Add(reader);
        return asked;
    }

    /// <summary>
    /// No initialised survivor had executed what a lost member showed: each holds a put of the key that was executed there. All participants of a put that was executed
    /// anywhere have proposed it, so who holds none of these has executed all that the lost member had.
    /// </summary>
    private static bool NobodyExecuted((string Key, ulong Version) seen, HarnessMember by, List<(HarnessMember Holder, KeyUse Use)> open,
        List<(HarnessMember Member, Dictionary<string, ulong> Versions)> executed) =>
        open.Count > 0 && executed.TrueForAll(kept => kept.Member.Host.Current!.State is var state && (!state.Initialised || state.Shard != open[0].Holder.Host.Current!.State.Shard
            || (open.Exists(put => put.Holder == kept.Member && HasExecuted(by, put.Use.Op)) && !Shows(kept.Versions, seen))));

    // What left the table there has its commit everywhere.
    private static bool HasExecuted(HarnessMember lost, ParticipantRecord put) => !Knows(lost) || (lost.Host.Current!.Participant.Records.Find(put.Key) is { } own ? own.Executed : put.Committed);

    // Who executed a later put of a key has executed those before it. A removal leaves no version.
    private static bool Shows(Dictionary<string, ulong> of, (string Key, ulong Version) seen) =>
        seen.Version > 0 ? of.TryGetValue(seen.Key, out ulong here) && here >= seen.Version : !of.ContainsKey(seen.Key);

    /// <summary>
    /// Whether the view change takes the time of an open put from proposals, and that of a lost member is later than these: it has proposed one, or would when the put
    /// came, since it has given the key a time that is not before them.
    /// </summary>
    private static bool IsLater(HarnessMember lost, KeyUse use, List<HarnessMember> kept)
    {
        ulong latest = 0;
        foreach (var member in kept)
        {
            var layer = member.Host.Current!;
            if (!use.Op.Participants.Contains((ushort)layer.State.Slot)) continue;
            // Without one of them it is dropped.
            if (layer.Participant.Records.Find(use.Op.Key) is not { Committed: false, Proposed: var time }) return false;
            latest = Math.Max(latest, time);
        }
        if (!Knows(lost)) return true;
        var participant = lost.Host.Current!.Participant;
        if (participant.Records.Find(use.Op.Key) is { } own) return own.Position > latest;
        return (participant.Slice.Table.Find(use.Entry.Key, use.Entry.Hash)?.Clock ?? participant.Slice.Floor) >= latest;
    }

    private IEnumerable<(string Key, HarnessMember Holder, KeyUse Use)> Open(HarnessMember member)
    {
        for (var op = member.Host.Current!.Participant.Records.Oldest; op is not null; op = op.Newer)
        {
            if (!op.Kind.Changes || op.Executed) continue;
            for (int i = 0; i < op.UseCount; i++)
                foreach (string name in Name(member, op.Uses[i].Entry.Key)) yield return (name, member, op.Uses[i]);
        }
    }

    private List<string> Name(HarnessMember member, byte[] key)
    {
        foreach (byte[] value in s_values)
        {
            try
            {
                return [.. versions(member, new(0, 0, 0, true, 0, [new(key, 0, value)])).Select(static e => e.Key)];
            }
            catch (InvalidDataException)
            {
                // Of another type.
            }
        }
        return [];
    }

    /// <summary>What an initialised member has executed, without a turn of it.</summary>
    private Dictionary<string, ulong> Executed(HarnessMember member)
    {
        if (member.Host.Current is not { State: { Initialised: true } state } layer) return [];
        var entries = new List<LocalEntry>();
        var some = new List<Entry>();
        for (int range = 0; range < EntryTable.Ranges; range++)
        {
            layer.Participant.Slice.Table.Collect(range, some);
            foreach (var entry in some)
                if (entry.Value is { } value) entries.Add(new(entry.Key, entry.Version, value));
        }
        return versions(member, new(state.View, state.Shard, state.Slot, state.Initialised, 0, entries)).ToDictionary(static e => e.Key, static e => e.Version);
    }
}
