using System.Text;
using GroupCore.Diagnostics;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Shared;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Groups;

/// <summary>The groups of one process: hands each frame and membership event to its group. Created before the node's first turn.</summary>
internal sealed class GroupHost : IMembershipSink, IFrameHandler, ILinkObserver, ITurnParticipant, IStopListener, IGroupHost
{
    private readonly List<GroupProtocol> _groups = [];
    private volatile GroupProtocol[] _listed = [];
    private bool _changed;
    private readonly Dictionary<GroupId, GroupProtocol> _byId = [];
    private readonly List<GroupProtocol> _touched = [];
    private readonly List<GroupProtocol> _left = [];
    // Groups that are over but whose handlers may still run: watched for the log until these have ended.
    private readonly List<GroupProtocol> _ended = [];
    private readonly BindTable _bindings = new();
    private readonly EarlyFrames _early = new(GroupLimits.EarlyMostBytes);
    private readonly List<JoinCall> _joinsWaiting = [];
    private readonly SortedSet<GroupId> _bindingsOver = [];
    private bool _strangersOver;
    // Groups that have no id yet.
    private int _joining;
    private readonly IdleSweep _idle;
    private Action? _handedOver;
    private readonly Func<GroupId, bool> _mayBe;
    private readonly Prng _first = new(1);
    private long _queries;
    private readonly bool[] _slots = new bool[GroupLimits.GroupsPerProcess + 1];

    /// <summary>Takes over the group frames of <paramref name="node"/> and the events of <paramref name="membership"/>.</summary>
    public GroupHost(INode node, IMembership membership, GroupHostOptions options)
    {
        GroupHostOptions.Validate(options);
        _idle = new(node, _groups);
        _mayBe = MayBeHere;
        (Node, Rules, Layers, Membership, Options, Suspicions) = (node, GroupRules.Without(node.Without), new(options.Layers), membership, options, new(membership));
        node.Route(FrameType.Bind, FrameType.Bind, this);
        node.Route(FrameType.Data, FrameType.Data, this);
        node.Route(FrameType.Order, FrameType.Ack, this);
        node.Route(FrameType.Peer, FrameType.Reply, this);
        node.Route(FrameType.Report, FrameType.FlushAck, this);
        node.Route(FrameType.CutPart, FrameType.FlushWait, this);
        node.Route(FrameType.StateOpen, FrameType.StateSign, this);
        node.Route(FrameType.FirstLayer, FrameType.LastLayer, this);
        node.Observe(this);
        node.AtEndOfTurn(this);
        node.AtStop(this);
        membership.Attach(this);
    }

    internal INode Node { get; }

    internal GroupRules Rules { get; }

    internal LayerTable Layers { get; }

    internal IMembership Membership { get; }

    internal GroupHostOptions Options { get; }

    internal BindTable Bindings => _bindings;

    internal MessageSlabPool Slabs { get; } = new();

    /// <summary>Bytes of frames held for groups of which this process does not yet know that it is a member.</summary>
    internal long EarlyBytes => _early.Bytes;

    internal Suspicions Suspicions { get; }

    /// <summary>The groups of this process, including those that it is still joining.</summary>
    internal IReadOnlyList<GroupProtocol> Groups => _groups;

    /// <summary>
    /// Joins the group of that name, which is created when there is none; completes when this member has the group's state and its first
    /// view was handled.
    /// </summary>
    /// <remarks>
    /// A join that is cancelled or fails is undone. The same name can be joined again at once: the new join waits until the old one is undone. It does not wait for
    /// handlers of an earlier membership: if both use the same objects, first await <see cref="Group.LeaveAsync"/> of the earlier one.
    /// </remarks>
    /// <exception cref="JoinTimeoutException">No progress for <see cref="GroupHostOptions.JoinTimeout"/>.</exception>
    /// <exception cref="JoinRefusedException">The membership service refused, or the state could not be saved, sent or loaded.</exception>
    /// <exception cref="ExcludedException">This process was excluded.</exception>
    /// <exception cref="NotMemberException">This process is leaving the system.</exception>
    /// <exception cref="ArgumentException">A name or an option is not valid, or <paramref name="configure"/> is <c>async</c>.</exception>
    public async ValueTask<Group> JoinAsync(string name, Action<GroupBuilder> configure, GroupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentNullException.ThrowIfNull(configure);
        cancellationToken.ThrowIfCancellationRequested();
        if (Encoding.UTF8.GetByteCount(name) > GroupLimits.NameBytes)
            throw new ArgumentException($"A group name has at most {GroupLimits.NameBytes} bytes of UTF-8.", nameof(name));
        if (!Utf8Text.IsKept(name)) throw new ArgumentException($"The group name '{Utf8Text.AsGot(name)}' contains an unpaired surrogate: other processes would read another name.", nameof(name));
        if (options is { SlowMemberTimeout: var slow } && (slow < TimeSpan.FromSeconds(1) || slow > TimeSpan.FromHours(1)))
            throw new ArgumentException($"SlowMemberTimeout is {slow}; allowed are 1 s to 1 h.", nameof(options));
        if (options is { Composition: var composition } && !Enum.IsDefined(composition)) throw new ArgumentException($"Composition is {composition}, which is no defined Composition.", nameof(options));
        if (options is { SlowMember: var policy } && !Enum.IsDefined(policy)) throw new ArgumentException($"SlowMember is {policy}, which is no defined policy.", nameof(options));
        var builder = new GroupBuilder(Options.Serializer);
        UserCode.NotAsync(configure, "The configure delegate must not be async: only what it has registered when it returns is used.", nameof(configure))(builder);
        builder.Seal();
        if (builder.Table.Inline && builder.HasAsync) throw new ArgumentException("Inline groups take synchronous handlers only.", nameof(configure));
        var call = new JoinCall(this, name, options ?? new(), builder.Table);
        await Node.PostAsync(call, cancellationToken).ConfigureAwait(false);
        try
        {
            var group = await call.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
            await group.Protocol.Joined.WaitAsync(cancellationToken).ConfigureAwait(false);
            return group;
        }
        catch (OperationCanceledException)
        {
            // This command runs after the one that begins the join, so it finds what became of it.
            await Node.PostAsync(call.Undo, CancellationToken.None).ConfigureAwait(false);
            throw;
        }
    }

    INode IGroupHost.Node => Node;

    GroupRules IGroupHost.Rules => Rules;

    LayerTable IGroupHost.Layers => Layers;

    IMembership IGroupHost.Membership => Membership;

    GroupHostOptions IGroupHost.Options => Options;

    Suspicions IGroupHost.Suspicions => Suspicions;

    MessageSlabPool IGroupHost.Slabs => Slabs;

    BindTable IGroupHost.Bindings => Bindings;

    bool IGroupHost.Departs => Departs;

    ulong IGroupHost.NextQuery() => (ulong)Interlocked.Increment(ref _queries);

    /// <summary>Whether this process is leaving the system. While one of its groups hands over, the others go on; their layers are no longer asked to hand over.</summary>
    internal bool Departs { get; private set; }

    internal long JoinNanoseconds => (long)Options.JoinTimeout.TotalNanoseconds;

    /// <summary>Removes a join that has not begun, as its caller does not wait any more.</summary>
    internal bool Undo(JoinCall call) => _joinsWaiting.Remove(call);

    /// <summary>
    /// Leaves the groups that have a layer, and calls <paramref name="then"/> inside a turn when all layers have handed over; if none has anything to hand over, at
    /// once. The layers bound the time. From here on no layer is attached and no group is joined.
    /// </summary>
    internal void HandOver(Action then)
    {
        Departs = true;
        foreach (var group in _groups.ToArray())
            if (group.HasLayer) group.RequestLeave();
        if (_groups.Exists(static group => group.IsHandingOver)) _handedOver += then;
        else then();
    }

    /// <summary>Begins a join, or takes over one that was given up; null when the join waits until an earlier membership of that name is out.</summary>
    internal Group? Start(JoinCall call)
    {
        var (name, options, table) = (call.Name, call.Options, call.Table);
        if (Departs) throw new NotMemberException(name, GroupProtocol.ProcessLeaves);
        var earlier = _groups.Find(g => g.Name == name);
        if (earlier is { Over: null, IsGoing: false }) throw new InvalidOperationException($"This process is a member of group '{name}' already.");
        string tag = table.Tag ?? Options.Tag;
        if (earlier is not null)
        {
            if (_joinsWaiting.Exists(waiting => waiting.Name == name)) throw new InvalidOperationException($"Another JoinAsync of this process is still waiting for group '{name}'.");
            if (earlier.Phase == GroupPhase.Abandoned && earlier.Options == options && (earlier.Table.Tag ?? Options.Tag) == tag) return TakeOver(earlier, table);
            _joinsWaiting.Add(call);
            return null;
        }
        int slot = Array.IndexOf(_slots, false, 1);
        if (slot < 0) throw new InvalidOperationException($"A process joins at most {GroupLimits.GroupsPerProcess} groups.");
        if (Membership.State == MembershipState.Excluded) throw new ExcludedException("it has to join the system again first");
        _slots[slot] = true;
        var group = new Group(this, name, options, table, (ushort)slot);
        _groups.Add(group.Protocol);
        _changed = true;
        _joining++;
        group.Protocol.BeginJoin();
        Membership.Join(name, options, tag);
        return group;
    }

    private Group TakeOver(GroupProtocol abandoned, HandlerTable table)
    {
        var group = new Group(this, abandoned.Name, abandoned.Options, table, abandoned.Slot);
        _groups[_groups.IndexOf(abandoned)] = group.Protocol;
        _changed = true;
        if (abandoned.Id is { } id) _byId[id] = group.Protocol;
        group.Protocol.BeginJoin();
        group.Protocol.TakeOver(abandoned);
        return group;
    }

    void IGroupHost.Touched(GroupProtocol group)
    {
        _touched.Add(group);
        _idle.Arm();
    }

    void IGroupHost.Forget(GroupProtocol group)
    {
        _slots[group.Slot] = false;
        _groups.Remove(group);
        if (Node.Log.IsOn) _ended.Add(group);
        _changed = true;
        if (group.Id is { } id && _byId.TryGetValue(id, out var known) && ReferenceEquals(known, group)) _byId.Remove(id);
        if (group.Id is { } over) _bindingsOver.Add(over);
        else _joining--;
        ForgetStrangers();
        if (_joinsWaiting.Find(waiting => waiting.Name == group.Name) is not { } next) return;
        _joinsWaiting.Remove(next);
        next.Run();
    }

    void IGroupHost.AwaitHandlers(GroupProtocol group) => _left.Add(group);

    void IGroupHost.HandlersEnded(GroupProtocol group) => _left.Remove(group);

    void IStopListener.OnStop(Exception reason)
    {
        var steps = default(StopSteps);
        // Logs what came since the last look: no other look follows.
        foreach (var group in _groups.Concat(_ended)) steps.Do(group.Watch.LookAtErrors);
        foreach (var group in _groups.ToArray()) steps.Do(() => group.OnStop(reason));
        foreach (var group in _left.ToArray()) steps.Do(() => group.OnStop(reason));
        foreach (var call in _joinsWaiting.ToArray()) steps.Do(() => call.Abandon(reason));
        steps.ThrowIfAny();
    }

    /// <summary>The groups, to be read on any thread: as they were at the end of the latest turn.</summary>
    internal IReadOnlyList<GroupProtocol> Listed => _listed;

    /// <summary>Describes the groups for a person; inside a turn.</summary>
    internal void Describe(Description text)
    {
        text.Open($"groups: {_groups.Count}; {_left.Count} that this process has left have handlers at work; {_joinsWaiting.Count} joins wait until an earlier membership is out");
        text.List(_groups, _groups.Count, static (text, group) => group.Describe(text));
        text.Close();
    }

    /// <summary>Checks for what lasts too long in the groups; called inside a turn, once a second if there is a logger.</summary>
    internal void Look(long now)
    {
        foreach (var group in _groups) group.Look(now);
        _ended.RemoveAll(group => !group.Watch.LookAtEnded(now));
    }

    /// <inheritdoc/>
    public void EndOfTurn()
    {
        // What one group does may touch another.
        for (int i = 0; i < _touched.Count; i++) _touched[i].EndOfTurn();
        _touched.Clear();
        if (_strangersOver || _bindingsOver.Count > 0) ForgetBindings();
        if (_changed) (_listed, _changed) = ([.. _groups], false);
        if (_handedOver is null || _groups.Exists(static group => group.IsHandingOver)) return;
        var then = _handedOver;
        _handedOver = null;
        then();
    }

    /// <inheritdoc/>
    public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (header.Type == FrameType.Bind)
        {
            if (_bindings.OnBind(peer, header.Slot, body, _mayBe, MostBindings) is { } refusal) Node.Counters.Refuse(refusal);
            else if (_bindings.Find(peer, header.Slot) is { } bound) _byId.GetValueOrDefault(bound.Id)?.OnBound(peer, bound.View);
            return;
        }
        var binding = _bindings.Find(peer, header.Slot);
        if (binding is null || header.View != (uint)binding.View)
        {
            Node.Counters.Refuse(binding is null ? RefusalReason.Unbound : RefusalReason.StaleView);
            return;
        }
        if (binding.Group is null or { IsOver: true }) binding.Group = _byId.GetValueOrDefault(binding.Id);
        if (binding.Group is { } group) group.OnFrame(peer, header, body, binding.View);
        else if (!IsJoining || !_early.TryAdd(binding.Id, binding.View, peer, header, body)) Node.Counters.Refuse(RefusalReason.StaleView);
    }

    /// <summary>Whether a frame may name a group that this process is joining: members may send to it before it hears that its join was accepted.</summary>
    private bool IsJoining => _joining > 0;

    /// <summary>Most bindings of one peer. Those to groups that ended in this turn count until they are forgotten at its end.</summary>
    private int MostBindings => _byId.Count + _joining + _bindingsOver.Count + GroupLimits.SpareBindings;

    private bool MayBeHere(GroupId group) => _byId.ContainsKey(group) || IsJoining;

    /// <summary>When no join waits for its answer any more, drops what was kept of groups that this process is not in.</summary>
    private void ForgetStrangers()
    {
        if (IsJoining) return;
        _early.Clear();
        _strangersOver = true;
    }

    /// <summary>One pass for all groups that were forgotten in a turn: a process may leave thousands of groups at once.</summary>
    private void ForgetBindings()
    {
        if (_strangersOver && !IsJoining) _bindings.Forget(group => !_byId.ContainsKey(group));
        else if (_bindingsOver.Count > 0) _bindings.Forget(group => _bindingsOver.Contains(group) && !_byId.ContainsKey(group));
        _strangersOver = false;
        _bindingsOver.Clear();
    }

    /// <inheritdoc/>
    public void OnLinkUp(int peer)
    {
        foreach (var group in _groups.ToArray()) group.OnLinkUp(peer);
    }

    /// <inheritdoc/>
    public void OnLinkFault(int peer, LinkFault fault)
    {
        // After these faults the link goes on where it was, or the process is gone, which the Oracle finds out.
        if (fault is LinkFault.Reset or LinkFault.Refused or LinkFault.Unreachable) return;
        _bindings.Forget(peer);
        _early.Drop(peer, Node.Counters);
        foreach (var group in _groups) group.DropEarly(peer);
        if (fault is not (LinkFault.Overflow or LinkFault.Rejected)) return;
        foreach (var group in _groups.ToArray()) group.OnLinkLost(peer);
    }

    /// <inheritdoc/>
    public void OnRoom(int peer)
    {
        // A random group begins, so that none takes all the room: if groups and links both had a fixed order, a link would always give its room to the same group.
        int count = _groups.Count, first = count == 0 ? 0 : _first.Next(count);
        for (int i = 0; i < count && count == _groups.Count; i++) _groups[(first + i) % count].OnRoom(peer);
    }

    /// <inheritdoc/>
    public void OnMembershipState(MembershipState state, string reason)
    {
        foreach (var group in _groups.ToArray()) group.OnState(state, reason);
    }

    /// <inheritdoc/>
    public void OnJoinAccepted(string name, GroupId group)
    {
        if (_groups.Find(g => g.Name == name && g.Id is null) is { } joining) Adopt(joining, group);
    }

    private void Adopt(GroupProtocol group, GroupId id)
    {
        group.Id = id;
        _joining--;
        group.Joining.OnProgress("a view of the group, which a slow member may hold up");
        _byId[id] = group;
        group.TakeEarly(_early, _early.Take(frame => frame.Group == id));
        ForgetStrangers();
    }

    /// <inheritdoc/>
    public void OnJoinRefused(string name, string reason)
    {
        if (_groups.Find(g => g.Name == name && g.View is null) is { } joining) joining.End(new JoinRefusedException(name, reason), failed: true);
    }

    /// <inheritdoc/>
    public void OnPropose(Proposal proposal)
    {
        if (_byId.GetValueOrDefault(proposal.Group) is { } group) group.OnPropose(proposal);
    }

    /// <inheritdoc/>
    public void OnInstall(View view)
    {
        if (!_byId.ContainsKey(view.Group) && view.RankOf(Membership.Self) >= 0) OnJoinAccepted(view.Name, view.Group);
        if (_byId.GetValueOrDefault(view.Group) is { } group) group.OnInstall(view);
    }

    /// <inheritdoc/>
    public void OnGroupOver(GroupId group, string reason)
    {
        if (_byId.GetValueOrDefault(group) is not { } over) return;
        if (over.Phase == GroupPhase.Joining)
        {
            // The group was over before this process was in a view of it. So it is as if the group had ended before the join: the join asks again for its name.
            _byId.Remove(group);
            _bindingsOver.Add(group);
            over.AskAgain();
            _joining++;
            Membership.Join(over.Name, over.Options, over.Table.Tag ?? Options.Tag);
        }
        else over.EndWithGroup(reason);
    }
}
