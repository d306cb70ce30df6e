using Ida.Ordering;
using Ida.Testing.Checking;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>
/// Finds the reads at level Ordered that saw something which was then lost with the member that showed it. These reads are not judged.
/// </summary>
/// <remarks>
/// Such a read waits for the order at the member that answers, not for stability (dht-order.md#reads-of-one-key). That a put had its turn there follows from what this
/// member proposed for the puts that conflict with it. If the member is lost before the times of those puts are known elsewhere, the view change takes the times from
/// the proposals that are left (4.8). They may be below the time of what was read, and then those puts come before it. To put them behind it
/// instead would be wrong as often: the lost member may have coordinated one of them, and shown it first, and what survivors contribute is the
/// same in both cases. Uniformity (S2) belongs to level Strict, where a read waits until its writer is stable: then no proposal below its time is left.
/// Only two kinds of sights that a lost member gave can be lost in this way.
/// The first is of a put that no survivor has executed. What a survivor has executed, too, stays as it was shown, whichever member showed it.
/// The second is that a put had not come yet. It concerns reads of several keys, which have a time. If the survivors know only proposals of the put, and the lost
/// member's would be later than theirs, the put may come before the read, although what the read saw instead is the same everywhere. (In one case a read saw a put at one
/// replica, and at another, which was excluded, that an earlier put had not come; that put never came there.) If a survivor knows the time of the put, this is
/// its time, and nothing follows from the clock of the lost member.
/// </remarks>
/// <param name="versions">What a member's slice holds: the name of each entry, and its version.</param>
internal sealed class LostSights(Func<HarnessMember, LocalSlice, IEnumerable<(string Key, ulong Version)>> versions)
{
    // Naming a key takes a value of its map's type: an empty list, and an empty text.
    private static readonly byte[][] s_values = [[0x90], [0xA0]];
    private readonly List<(string Op, HarnessMember Reader, List<(string Key, ulong Version)> Seen)> _ofThisView = [];
    private readonly List<(HarnessMember Reader, HarnessMember Asked, List<string> Keys)> _questions = [];
    private readonly HashSet<string> _known = [], _lost = [];

    /// <summary>How many reads are not judged.</summary>
    public int Count => _lost.Count;

    /// <summary>A frame leaves: notes which member is asked for which keys.</summary>
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

    /// <summary>A read by a member has returned these keys; those not found have version 0. To tell it once more changes nothing.</summary>
    public void Returned(string op, HarnessMember reader, IEnumerable<(string Key, ulong Version)> read)
    {
        if (_known.Add(op)) _ofThisView.Add((op, reader, [.. read]));
    }

    /// <summary>The view has ended, and nothing of it is decided yet.</summary>
    public void ViewChange(IReadOnlyCollection<HarnessMember> survivors, IReadOnlyCollection<HarnessMember> lost)
    {
        // A member that has closed its DHT no longer knows what it showed, and counts as lost.
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

    /// <summary>The history without what these reads returned.</summary>
    public History Without(History history) => _lost.Count == 0 ? history : History.FromEvents(history.Events.Select(e =>
        e is { Type: HistoryEventType.Ok, Op: { } op } && _lost.Contains(op) ? e with { Type = HistoryEventType.Info, Values = null, Versions = null } : e));

    private static bool Knows(HarnessMember member) => member.Host.Current is { State.Map: not null };

    /// <summary>The members that may have answered: those asked for all keys that were read of their shard, or the reader itself if none was asked.</summary>
    private IEnumerable<HarnessMember> AnsweredBy(HarnessMember reader, string key, List<(string Key, ulong Version)> seen)
    {
        var questions = _questions.FindAll(one => one.Reader == reader && one.Keys.Contains(key) && one.Keys.TrueForAll(asked => seen.Exists(of => of.Key == asked)));
        if (questions.Count == 0) return [reader];
        int most = questions.Max(static one => one.Keys.Count);
        var asked = questions.FindAll(one => one.Keys.Count == most).ConvertAll(static one => one.Asked);
        // A reader that lacked its state when it asked may have it by now, and may have answered itself.
        if (reader.Host.Current is { State.Initialised: true } layer && asked.Exists(one => one.Host.Current?.State.Shard == layer.State.Shard)) asked.Add(reader);
        return asked;
    }

    /// <summary>
    /// Whether no initialised survivor had executed what a lost member showed: then each of them still holds, not executed, a put of the key that was executed there. All
    /// participants of a put that was executed anywhere have proposed it, so a survivor that holds no such put has executed all that the lost member had.
    /// </summary>
    private static bool NobodyExecuted((string Key, ulong Version) seen, HarnessMember by, List<(HarnessMember Holder, KeyUse Use)> open,
        List<(HarnessMember Member, Dictionary<string, ulong> Versions)> executed) =>
        open.Count > 0 && executed.TrueForAll(kept => kept.Member.Host.Current!.State is var state && (!state.Initialised || state.Shard != open[0].Holder.Host.Current!.State.Shard
            || (open.Exists(put => put.Holder == kept.Member && HasExecuted(by, put.Use.Op)) && !Shows(kept.Versions, seen))));

    // A put whose record is gone at the lost member has its commit everywhere.
    private static bool HasExecuted(HarnessMember lost, ParticipantRecord put) => !Knows(lost) || (lost.Host.Current!.Participant.Records.Find(put.Key) is { } own ? own.Executed : put.Committed);

    // A member that executed a later put of a key has executed those before it. A removal leaves no version.
    private static bool Shows(Dictionary<string, ulong> of, (string Key, ulong Version) seen) =>
        seen.Version > 0 ? of.TryGetValue(seen.Key, out ulong here) && here >= seen.Version : !of.ContainsKey(seen.Key);

    /// <summary>
    /// Whether the view change takes the time of an open put from proposals, and the lost member's is later than those: it has made a later one, or would have when the put came,
    /// since it has given the key a time that is not before them.
    /// </summary>
    private static bool IsLater(HarnessMember lost, KeyUse use, List<HarnessMember> kept)
    {
        ulong latest = 0;
        foreach (var member in kept)
        {
            var layer = member.Host.Current!;
            if (!use.Op.Participants.Contains((ushort)layer.State.Slot)) continue;
            // A put that one of them lacks is dropped, and a committed one has its time.
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
