using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>
/// A model of members over the real protocol: one FIFO channel per ordered pair of members, every delivery an explicit choice, atomic
/// view changes, virtual time. A crash loses a suffix of each channel; an excluded member may live on with or without its lease.
/// </summary>
internal sealed class DhtWorld
{
    /// <summary>Parts of the messages about a run that does not come to rest, replicas that differ, and a shard that is given up though a member has it.</summary>
    public const string Unsettled = " did not happen in ", Diverged = "Shard ", LostThoughHeld = "lost its last initialised member, but";

    // A smaller frame may be an answer without values, which waits for no room.
    private const int LargeBytes = 8 << 10;

    // How far time jumps at once while others wait for user code, in nanoseconds.
    private const long LongestStep = 100_000_000;

    /// <summary>From this number on, schedules make up the ids of their clients' puts, as if the member of the session had given them.</summary>
    public const ulong Named = 1UL << 40;

    private ulong? _givenFrom = Named;
    private readonly Dictionary<(int From, int To), Queue<HarnessFrame>> _channels = [];
    private readonly List<(int From, int To)> _pairs = [];
    private readonly Dictionary<int, int> _delivered = [];
    private readonly Dictionary<(int From, int To), long> _bytes = [];
    private readonly HashSet<(int From, int To)> _short = [], _broken = [];
    private readonly HashSet<(int Who, ProcessId Other)> _here = [];
    private readonly GroupRules _group;
    private readonly DhtRules _dht;
    private TraceHash _trace;
    private ulong _proposal;
    private bool _flushing;

    public DhtWorld(ulong seed = 1, string? without = null)
    {
        (Random, Without, _group, _dht) = (new(seed), without, GroupRules.Without(without), DhtRules.Without(without));
    }

    public Prng Random { get; }

    public string? Without { get; }

    public long Now { get; set; } = 1_000_000_000;

    public List<HarnessMember> Members { get; } = [];

    /// <summary>Frames handed to members so far, and the hash of who sent whom what.</summary>
    public long Deliveries { get; private set; }

    public ulong Trace => _trace.Value;

    public View? View { get; private set; }

    public bool ViewRequested { get; set; }

    /// <summary>A member asks for a view. Between the wedge and the install the membership service drops such a request.</summary>
    public void RequestView() => ViewRequested |= !_flushing;

    /// <summary>The member whose turn runs, for user code in it.</summary>
    public HarnessMember? Running { get; set; }

    /// <summary>Called between contribution and install. Frames are delivered then only if the rule WedgeFreezes is left out.</summary>
    public Action? DuringFlush { get; set; }

    /// <summary>Called when a view has ended and nothing of it is decided yet, with the members that go on and those that are lost.</summary>
    public Action<List<HarnessMember>, List<HarnessMember>>? AtViewChange { get; set; }

    /// <summary>Called with the sender, the receiver and each frame that a member of the DHT sends.</summary>
    public Action<HarnessMember, HarnessMember, HarnessFrame>? AtSend { get; set; }

    /// <summary>Frames that never arrive, where a test wants something to stand still; real channels between live members lose none.</summary>
    public Func<int, int, FrameType, bool>? Swallows { get; set; }

    public DhtOptions Options { get; set; } = new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } };

    /// <summary>Replaces what a member contributes to a view change, for a member that lies.</summary>
    public Func<HarnessMember, byte[], byte[]>? Lies { get; set; }

    /// <summary>How many bytes of outcomes members keep for members that are gone; null leaves what follows from the options.</summary>
    public long? MostLostBytes { get; set; }

    /// <summary>
    /// From this number on, members take ids as given. It is less than <see cref="Named"/> where a test lets retries cross without a question; null for none, as in production.
    /// </summary>
    public ulong? GivenFrom
    {
        get => _givenFrom;
        set
        {
            _givenFrom = value;
            foreach (var member in Members)
                if (member.Host.Current is { } layer) layer.Coordinator.Puts.GivenFrom = value;
        }
    }

    /// <summary>What every member declares.</summary>
    public Action<DhtMaps> Declare { get; set; } = Maps;

    /// <summary>A map for each type of value that tests store, and maps with keys that are not allowed.</summary>
    public static void Maps(DhtMaps maps)
    {
        maps.Map<string, int>("ints");
        maps.Map<string, long>("longs").OnMerge<long>((_, stored, incoming) => stored + incoming);
        maps.Map<string, string>("texts").OnMerge<int>((_, stored, incoming) => incoming < 0 ? throw (incoming == int.MinValue ? new Unspeakable() : new InvalidDataException("negative")) : incoming == 0 ? null : stored + incoming);
        maps.Map<string, byte[]>("bytes");
        maps.Map<string, List<long>>("lists").OnMerge<long>((_, stored, incoming) => [.. stored ?? [], incoming]);
        maps.Map<int, int>("numbers");
        maps.Map<double, int>("doubles");
        maps.Map<HashSet<int>, int>("sets");
    }

    /// <summary>The bytes of a key with its map, for frames that a test makes.</summary>
    public static byte[] KeyOf(string map, params ReadOnlySpan<byte> key) => [.. BitConverter.GetBytes(KeyIdentity.IdOf(map)), .. key];

    /// <summary>Members in one view, all enabled and serving.</summary>
    public static DhtWorld Founded(int members, ulong seed = 1, string? without = null, DhtOptions? options = null)
    {
        var world = new DhtWorld(seed, without);
        if (options is not null) world.Options = options;
        world.Found(members);
        return world;
    }

    /// <summary>Members in one view, all enabled and serving, as the world says.</summary>
    public void Found(int members)
    {
        for (int i = 0; i < members; i++) Add();
        ChangeView();
        foreach (var member in Members) member.Enable(Options, Declare);
        ChangeView();
        ViewRequested = false;
    }

    public HarnessMember Add()
    {
        var member = new HarnessMember(this, Members.Count, Random.NextUInt64());
        Members.Add(member);
        return member;
    }

    public void Queue(HarnessMember from, int toRank, HarnessFrame frame)
    {
        int to = Members.FindIndex(m => m.Self == from.View!.Members[toRank].Id);
        if (frame.Type != FrameType.Bind) AtSend?.Invoke(from, Members[to], frame);
        var pair = (from.Index, to);
        if (!_channels.TryGetValue(pair, out var channel))
        {
            _channels.Add(pair, channel = new());
            _pairs.Add(pair);
        }
        if (!from.Alive || _broken.Contains(pair) || Swallows?.Invoke(from.Index, to, frame.Type) == true) return;
        if (frame.Body.Length >= LargeBytes && !from.IsHere(toRank)) Overfilled ??= $"m{pair.Index} sends {frame.Body.Length} bytes in {frame.Type} to m{to}, which is not known to be in the view.";
        if (frame.Body.Length >= LargeBytes && _bytes.GetValueOrDefault(pair) >= BulkBytes)
            Overfilled ??= $"m{pair.Index} sends {frame.Body.Length} bytes in {frame.Type} to m{to}, whose channel holds {_bytes[pair]} of {BulkBytes}.";
        channel.Enqueue(frame);
        Count(pair, frame.Body.Length);
    }

    /// <summary>Bytes on a channel at which its sender is told that there is no room, as links do.</summary>
    public long BulkBytes { get; set; } = long.MaxValue;

    /// <summary>Whether members learn that another is in the new view only from its first frame there, which travels like any other; otherwise they know at once.</summary>
    public bool LateViews { get; set; }

    /// <summary>Whether a member knows that another is in its view.</summary>
    public bool IsHere(HarnessMember from, int rank) => !LateViews || _here.Contains((from.Index, from.View!.Members[rank].Id));

    /// <summary>The first frame with values that was sent where there was no room; null without any.</summary>
    public string? Overfilled { get; private set; }

    /// <summary>Most bytes that a channel held.</summary>
    public long MostQueued { get; private set; }

    public long Room(HarnessMember from, int toRank)
    {
        if (BulkBytes == long.MaxValue) return long.MaxValue;
        var pair = (from.Index, Members.FindIndex(m => m.Self == from.View!.Members[toRank].Id));
        if (_short.Contains(pair)) return 0;
        long room = BulkBytes - _bytes.GetValueOrDefault(pair);
        if (room <= 0) _short.Add(pair);
        return room;
    }

    private void Count((int From, int To) pair, long bytes)
    {
        long now = _bytes[pair] = _bytes.GetValueOrDefault(pair) + bytes;
        MostQueued = Math.Max(MostQueued, now);
        if (bytes > 0 || now > BulkBytes / 2 || !_short.Remove(pair)) return;
        var (from, to) = (Members[pair.From], Members[pair.To]);
        if (from.Alive && !from.Wedged && from.View?.RankOf(to.Self) is >= 0 and var rank) from.OnRoom(rank);
    }

    /// <summary>Pairs with something to deliver.</summary>
    public List<(int From, int To)> Busy() => _pairs.FindAll(p => _channels[p].Count > 0 && Members[p.To].Alive && !IsStalled(Members[p.To]));

    /// <summary>Whether a member's turn has not ended yet, since user code in it takes its time.</summary>
    public bool IsStalled(HarnessMember member) => member.StalledUntil > Now;

    public int Waiting(int from, int to) => _channels.TryGetValue((from, to), out var channel) ? channel.Count : 0;

    /// <summary>How many frames a member was handed so far.</summary>
    public int Delivered(int member) => _delivered.GetValueOrDefault(member);

    /// <summary>Delivers the next frame of a channel; false when there is none.</summary>
    public bool Deliver(int from, int to)
    {
        if (!_channels.TryGetValue((from, to), out var channel) || !channel.TryDequeue(out var frame)) return false;
        Count((from, to), -frame.Body.Length);
        var target = Members[to];
        if (!target.Alive || target.View is null) return true;
        if (frame.View != target.View.Id && (_group.OldViewRefused || !Same(target, from, frame))) return true;
        if (target.Wedged && _dht.WedgeFreezes) return true;
        if (frame.Type == FrameType.Bind)
        {
            _here.Add((to, Members[from].Self));
            target.OnRoom(frame.FromRank);
            return true;
        }
        _delivered[to] = Delivered(to) + 1;
        Deliveries++;
        _trace.Add((((ulong)from << 48) | ((ulong)to << 32) | (byte)frame.Type) ^ ((ulong)frame.Body.Length << 8));
        target.Deliver(frame);
        return true;
    }

    /// <summary>Delivers a channel up to and including the next frame of a type.</summary>
    public void DeliverUntil(int from, int to, FrameType type)
    {
        while (true)
        {
            Assert.True(_channels.TryGetValue((from, to), out var channel) && channel.Count > 0, $"No frame {(byte)type} from {from} to {to}.");
            bool found = channel.Peek().Type == type;
            Deliver(from, to);
            if (found) return;
        }
    }

    /// <summary>Delivers everything on channels that the filter lets through, in the order of the pairs, until nothing is left; no time passes.</summary>
    public void DeliverAll(Func<int, int, bool>? filter = null)
    {
        while (true)
        {
            var busy = Busy().FindAll(p => filter is null || filter(p.From, p.To));
            if (busy.Count == 0) return;
            foreach (var (from, to) in busy) Deliver(from, to);
        }
    }

    /// <summary>Runs commands and timers of all members at this instant.</summary>
    public void Poke()
    {
        foreach (var member in Members)
            if (member.Alive && !IsStalled(member)) member.Unblock(atOnce: false);
        foreach (var member in Members)
            if (member.Alive && !IsStalled(member) && (member.Inner.HasCommands || member.Inner.NextTimer <= Now + member.Skew)) member.Turn(static () => { });
    }

    public void Advance(TimeSpan time)
    {
        Now += (long)time.TotalNanoseconds;
        Poke();
    }

    /// <summary>
    /// Lets time pass until user code keeps the turn of none of these members. It passes in steps, so that members that are not kept, or not as long, act meanwhile; what they
    /// have begun may take several turns.
    /// </summary>
    public void WaitForUserCode(Predicate<HarnessMember> of)
    {
        long until = Members.FindAll(of).Select(static member => member.StalledUntil).DefaultIfEmpty().Max();
        while (Now < until)
        {
            Now = Members.ConvertAll(static member => member.StalledUntil).FindAll(end => end > Now).Append(Now + LongestStep).Min();
            Poke();
        }
    }

    /// <summary>Lets time pass and everything be delivered until the condition holds; fails when it does not.</summary>
    public void RunUntil(Func<bool> done, string what, Func<string>? open = null, int steps = 4000)
    {
        for (int i = 0; i < steps; i++)
        {
            Poke();
            DeliverAll();
            if (ViewRequested) ChangeView();
            if (done()) return;
            Now += 2_000_000;
        }
        Assert.Fail($"{what}{Unsettled}{steps} steps of 2 ms.\n{open?.Invoke()}\n{Describe()}");
    }

    /// <summary>The state of the members, for a failing test.</summary>
    public string Describe()
    {
        var text = new System.Text.StringBuilder($"view {View!.Id}\n");
        foreach (var member in Members)
        {
            var layer = member.Host.Current;
            text.AppendLine($"m{member.Index} alive {member.Alive} excluded {member.Excluded} over {layer?.IsOver} slot {layer?.State.Slot} initialised {layer?.State.Initialised} view {layer?.State.View} ops {layer?.Participant.Records.Count} keys {layer?.Participant.KeysInUse} work {layer?.Coordinator.HasWork} timer {member.Inner.NextTimer - Now}");
            for (var op = layer?.Participant.Records.Oldest; op is not null; op = op.Newer)
                text.AppendLine($"   {op.Key} owner {op.Owner} {op.Kind} slots {string.Join(' ', op.Participants.ToArray())} at {op.Position & 0xFFFFFF} {op.Phase} settled {op.Settled} told {op.Told} result {op.Result} late {op.LateUses} coordinators {string.Join(' ', op.Coordinators)} taken {op.TakenOver}");
        }
        foreach (var (from, to) in Busy()) text.AppendLine($"{from}->{to}: {Waiting(from, to)}");
        return text.ToString();
    }

    /// <summary>
    /// Lets everything settle, and fails if it does not: records must go, no key may stay in use, newcomers must be initialised. Not demanded where nobody is left that could
    /// initialise them.
    /// </summary>
    public void Settle()
    {
        RunUntil(
            () =>
            {
                WaitForUserCode(static _ => true);
                return Busy().Count == 0 && (NobodyHasATable || Members.TrueForAll(m => !m.InView || m.Host.Current is null or { IsOver: true }
                    || (m.Host.Current.State.Initialised && m.Host.Current.Participant is { Records.Count: 0, KeysInUse: 0 })));
            },
            "Quiescence");
        foreach (var member in Members)
            if (member.Host.Current is { IsOver: false } layer) ScenarioFailedException.ThrowIf(SliceSizes.Wrong(layer.Participant.Slice.Table));
    }

    /// <summary>Whether no living member knows the table. A newcomer that outlives the others before it has heard of the table has nothing to say about it.</summary>
    public bool NobodyHasATable => Members.TrueForAll(static m => !m.InView || m.Host.Current is null or { IsOver: true } or { State.Map: null });

    /// <summary>The process ends; each of its channels keeps a random prefix.</summary>
    public void Crash(HarnessMember member, bool loseAll = false)
    {
        foreach (var pair in _pairs)
        {
            if (pair.From == member.Index) KeepPrefix(pair, loseAll);
        }
        member.Alive = false;
    }

    /// <summary>
    /// The link between two members of the view is lost, and another takes its place: each channel keeps a random prefix. As a group promises, no frame
    /// of its layer follows until the next view, which is asked for.
    /// </summary>
    public void LoseLink(HarnessMember one, HarnessMember other)
    {
        ViewRequested = true;
        foreach (var pair in ((int From, int To)[])[(one.Index, other.Index), (other.Index, one.Index)])
        {
            if (_group.NoFrameBehindAGap) _broken.Add(pair);
            if (_channels.ContainsKey(pair)) KeepPrefix(pair, loseAll: false);
        }
    }

    private void KeepPrefix((int From, int To) pair, bool loseAll)
    {
        var frames = _channels[pair].ToArray();
        Empty(pair);
        int kept = loseAll ? 0 : Random.Next(frames.Length + 1);
        for (int i = 0; i < kept; i++)
        {
            _channels[pair].Enqueue(frames[i]);
            _bytes[pair] += frames[i].Body.Length;
        }
    }

    /// <summary>
    /// One atomic view change: dead members go, those in <paramref name="exclude"/> go although they live, new ones come at the end.
    /// Leavers take part in the view change.
    /// </summary>
    public void ChangeView(params HarnessMember[] exclude)
    {
        ViewRequested = false;
        // A flush waits for user code, which costs no member its place.
        WaitForUserCode(member => member.InView && !exclude.Contains(member));
        var old = View?.Members.Select(m => m.Id).ToList() ?? [];
        var survivors = old.Select(Find).Where(m => m.Alive && !exclude.Contains(m)).ToList();
        // Members that take part in a view change have contact.
        foreach (var member in survivors) member.Unblock(atOnce: true);
        var joined = Members.Where(m => m.Alive && !m.Excluded && m.View is null && !old.Contains(m.Self)).ToList();
        var next = Ranks.Compose(old, id => survivors.Exists(m => m.Self == id && !m.Left), [.. joined.Select(m => m.Self)], Composition.HotSwap);
        var group = new GroupId(1, 1);
        var proposal = new Proposal(group, ++_proposal, View?.Id ?? 0, [.. survivors.Select(m => m.Self)], [], []);
        _flushing = true;
        foreach (var member in survivors)
        {
            member.Wedged = true;
            member.Inner.Advance(Now + member.Skew);
            member.Host.OnWedged(proposal);
        }
        if (AtViewChange is { } told)
        {
            var stay = survivors.FindAll(static member => !member.Left);
            told(stay, [.. old.Select(Find).Except(stay)]);
        }
        var holders = Holders(survivors);
        var contributions = new List<LayerContribution>();
        foreach (var member in survivors)
            if (member.Contribution() is { Length: > 0 } bytes) contributions.Add(new(member.Self, Lies?.Invoke(member, bytes) ?? bytes));
        DuringFlush?.Invoke();
        _flushing = false;
        var view = new View(group, "test", (View?.Id ?? 0) + 1, _proposal, new(), [.. next.Select(id => new ViewMember(id, new("h"), true, ""))],
            [.. joined.Select(m => m.Self)], [], [.. old.Where(id => !next.Contains(id))], []);
        if (_group.OldViewRefused)
            foreach (var pair in _pairs)
                if (!exclude.Contains(Members[pair.From]) || !exclude.Contains(Members[pair.To])) Drop(pair);
        _broken.Clear();
        View = view;
        _here.Clear();
        foreach (var member in exclude)
        {
            member.Excluded = true;
            member.Lease = false;
        }
        foreach (var member in survivors.Where(m => m.Left))
        {
            (member.Excluded, member.Lease) = (true, false);
            Exclude(member);
        }
        foreach (var member in next.Select(Find))
        {
            member.View = view;
            member.Wedged = false;
            if (LateViews) Bind(member);
            var before = member.Host.Current;
            member.Turn(() => member.Host.OnInstalled(view, contributions));
            if (holders is not null && Lies is null && before is { Ended: ShardDepopulatedException lost } && holders.Find(held => held.Shard == lost.Shard).Member is { } holder)
                throw new ScenarioFailedException($"m{member.Index} was told in view {view.Id} that shard {lost.Shard} {LostThoughHeld} m{holder.Index} held all of it, and stays.");
        }
    }

    /// <summary>
    /// The survivors that hold all of a shard as the view change begins, and stay with it, each with the shard. A leaver counts, too, if there is somebody for each shard to hand
    /// it to. Null if, as far as the survivors know, the table is not founded.
    /// </summary>
    private static List<(int Shard, HarnessMember Member)>? Holders(List<HarnessMember> survivors)
    {
        var layers = survivors.FindAll(static member => member is { Left: false, Host.Current: { IsOver: false, State.Map: not null } });
        bool canHandOver = layers.Count(static member => !member.Host.Current!.IsLeaving) >= 2;
        return layers.Count == 0 ? null : layers.FindAll(member => member.Host.Current is { State.Initialised: true } layer && (canHandOver || !layer.IsLeaving)).ConvertAll(static member => (member.Host.Current!.State.Shard, member));
    }

    // Goes ahead of all else that the member sends in the view.
    private void Bind(HarnessMember member)
    {
        for (int rank = 0; rank < member.View!.Members.Count; rank++)
            if (rank != member.Rank) Queue(member, rank, new(FrameType.Bind, [], member.View.Id, member.Rank));
    }

    /// <summary>A turn of a member throws: its callers must be told why it ends, and for the other members it crashes.</summary>
    public void Fault(HarnessMember member)
    {
        var fault = new InvalidDataException("A turn throws on purpose.");
        var lasting = member.Host.Current is { IsOver: false } ? member.Dht : null;
        member.Fault(fault, Random.Next(2) == 0);
        if (!member.Faulted) throw new ScenarioFailedException($"No turn of m{member.Index} threw.");
        Crash(member);
        if (lasting?.Completion is { } ended && (ended.Exception?.InnerException is not NodeFaultedException { InnerException: { } cause } || cause != fault))
            throw new ScenarioFailedException($"A turn of m{member.Index} threw, and its part in the DHT is {ended.Status}: {ended.Exception?.InnerException}");
    }

    /// <summary>An excluded member learns of its exclusion.</summary>
    public void Exclude(HarnessMember member) => member.Turn(() => member.Host.OnOver(new InvalidOperationException("excluded")));

    public HarnessMember Find(ProcessId id) => Members.Find(m => m.Self == id)!;

    /// <summary>The initialised, living members of a shard.</summary>
    public List<HarnessMember> Initialised(int shard) => Members.FindAll(m => m.InView && m.Host.Current is { IsOver: false } layer && layer.State.Initialised && layer.State.Shard == shard);

    /// <summary>The entries of a member's slice.</summary>
    public static LocalSlice Slice(HarnessMember member)
    {
        var task = member.Dht.SnapshotAsync();
        member.Turn(static () => { });
        Assert.True(task.IsCompletedSuccessfully);
        return task.Result;
    }

    /// <summary>
    /// The first member that is in the view, was not asked to leave, and yet has no part in the DHT any more; or null. Not judged where its shard was lost, a rule is left out,
    /// or a member lies at view changes.
    /// </summary>
    public string? EndedForNothing()
    {
        foreach (var member in Members)
        {
            if (Without is null && Lies is null && member is { InView: true, Left: false, Host.Current: { IsLeaving: false, Ended: { } reason and not ShardDepopulatedException } })
                return $"m{member.Index} has neither left nor been excluded, and its part in the DHT is over: {reason}";
        }
        return null;
    }

    /// <summary>
    /// Judges the members: none may have been sent malformed frames, each of the two shards must have an initialised member, and all such members of a shard must hold the same.
    /// Hands on what each of them holds. Returns the first thing that is wrong, or null.
    /// </summary>
    public string? CompareReplicas(Action<int, HarnessMember, LocalSlice> each, bool mayBeMalformed = false)
    {
        foreach (var member in Members)
            if (Without is null && !mayBeMalformed && Offences.Of(member.Node.Counters) > 0) return $"m{member.Index} was sent frames that no node sends.";
        for (int shard = 0; shard < 2; shard++)
        {
            var initialised = Initialised(shard);
            if (initialised.Count == 0) return $"Nobody holds shard {shard}.";
            foreach (var member in initialised)
            {
                if (Difference(initialised[0], member) is { } difference) return $"{Diverged}{shard}: {difference}";
                each(shard, member, Slice(member));
            }
        }
        return null;
    }

    /// <summary>How the slices of two members differ; null when they do not.</summary>
    public static string? Difference(HarnessMember one, HarnessMember other)
    {
        var (left, right) = (Slice(one), Slice(other));
        if (left.Digest == right.Digest) return null;
        var here = left.Entries.ToDictionary(Name);
        var there = right.Entries.ToDictionary(Name);
        var lines = here.Keys.Union(there.Keys).Where(key => Show(here, key) != Show(there, key)).Take(8).Select(key => $"{key}: {Show(here, key)} and {Show(there, key)}");
        return $"m{one.Index} and m{other.Index} differ: {string.Join("; ", lines)}";

        static string Name(LocalEntry entry) => System.Text.Encoding.Latin1.GetString(entry.Key.Span[KeyIdentity.MapBytes..]) + $" of {Convert.ToHexString(entry.Key.Span[..2])}";

        static string Show(Dictionary<string, LocalEntry> of, string key) =>
            of.TryGetValue(key, out var entry) ? $"{entry.Value.Length} bytes {Convert.ToHexString(entry.Value.Span[..Math.Min(16, entry.Value.Length)])} at version {entry.Version}" : "nothing";
    }

    private void Drop((int From, int To) pair)
    {
        if (Members[pair.From].Excluded && Members[pair.To].Excluded) return;
        Empty(pair);
    }

    private void Empty((int From, int To) pair)
    {
        _channels[pair].Clear();
        _bytes[pair] = 0;
        _short.Remove(pair);
    }

    private bool Same(HarnessMember target, int from, HarnessFrame frame) => frame.View < target.View!.Id && target.View.RankOf(Members[from].Self) >= 0;

    /// <summary>An exception of a user runs user code, too.</summary>
    private sealed class Unspeakable : Exception
    {
        public override string Message => throw new InvalidOperationException("not even this");
    }
}
