using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle.Client;
using Oracle.Frames;

namespace Oracle.Detection;

/// <summary>
/// Watches the processes that the Oracle assigned to this one, and tells the leader which it suspects, and why. It decides nothing.
/// </summary>
/// <remarks>
/// Each round of 200 ms (<see cref="OracleOptions.ProbeInterval"/>) begins with a probe. Without an answer in half a round × (1 + health), or at the start of the
/// next round if that comes first, it probes again and asks the other watched processes (some eight) to probe over links that they have. After four
/// rounds (<see cref="OracleOptions.ProbeRounds"/>) without any sign it suspects, 0.8 to 1 s after the process fell silent. A connection that
/// breaks is no evidence, but starts a look at once: the listener is dialled (a refusal at the registered address is evidence), and on the
/// same host the process table is read, immediately and again after 2 … 250 ms, since a process that is being killed loses its sockets a moment before it
/// is gone. A process seen to be gone is suspected when its address refuses too, or when nothing came from it for 100 ms and it is still gone. This suspicion by itself is
/// proof of death. Suspicions are repeated every 500 ms until withdrawn. While this process doubts its own clock, it suspects nobody. Source:
/// failure-detection.md#rounds-of-probes, #others-are-asked-before-a-process-is-suspected, #a-broken-connection-is-looked-at-not-believed,
/// #poor-health-waits-longer-and-counts-half; SWIM, Lifeguard.
/// </remarks>
internal sealed partial class FailureDetector(INode node, OracleOptions options, FrameSender sender, OracleDirectory directory, Introductions introductions)
{
    public const int WorstHealth = 8;
    private const long RepeatEvery = 500 * Durations.Millisecond;
    // A process that lives and loses its connection dials again at once, or after 10 and 50 ms.
    private const long ConfirmAfter = 100 * Durations.Millisecond;
    private const int MaxWatched = 4_096;
    private static readonly long[] LookAfter = [2 * Durations.Millisecond, 8 * Durations.Millisecond, 30 * Durations.Millisecond, 100 * Durations.Millisecond, 250 * Durations.Millisecond];
    // Half a round: a process that has not answered by then is probed again, also by others.
    private readonly long _patience = options.ProbeInterval.Nanoseconds() / 2;
    private readonly List<MonitoredProcess> _watched = [];
    private readonly Dictionary<ProcessId, MonitoredProcess> _byId = [];
    private readonly Relays _relays = new(node, sender, introductions);
    private readonly ExcludedNodes _excluded = new();
    private ulong _probe;
    private bool _mute;

    /// <summary>Health of this process, from 0 (good) to 8: when it is poor, its observations of others count less.</summary>
    public int Health { get; private set; }

    /// <summary>When the process table is to be looked at again.</summary>
    public long Due { get; private set; } = long.MaxValue;

    /// <summary>Called for processes that are certainly gone from their address.</summary>
    public Action<ulong>? OnGone { get; set; }

    /// <summary>Called with the link to a process that is excluded or watched no longer, and whether the process was seen to be gone.</summary>
    public Action<int, bool>? OnDropped { get; init; }

    /// <summary>Addresses of the processes that the Oracle assigned.</summary>
    public IEnumerable<NodeAddress> Addresses
    {
        get
        {
            foreach (var watched in _watched)
                if (watched.Assigned) yield return watched.Subject.Address;
        }
    }

    /// <summary>Number of processes to which a link is or was up.</summary>
    public int Reached => _relays.Count;

    public bool IsAlone => !_watched.Exists(watched => watched.Assigned);

    public void Assign(IReadOnlyList<Subject> subjects)
    {
        foreach (var watched in _watched) watched.Assigned = false;
        foreach (var subject in subjects)
        {
            if (subject.Id.Node == node.Id) continue;
            MonitoredProcess watched = Add(subject);
            watched.Subject = subject;
            watched.Assigned = true;
        }
        // A process that is no longer assigned is not probed, and its link may go. If it is assigned again, it starts anew.
        foreach (var watched in _watched)
        {
            if (watched.Assigned) continue;
            (watched.FailedRounds, watched.RoundAt) = (0, 0);
            if (watched.Observed is Suspicion.Timeout) watched.Observed = null;
        }
        Prune();
    }

    /// <summary>A group of this process suspects a process: the leader is told so again and again, until the group withdraws it.</summary>
    public void Suspect(ProcessId subject, Suspicion evidence)
    {
        if (_watched.Count >= MaxWatched && !_byId.ContainsKey(subject)) return;
        MonitoredProcess watched = Add(new(subject, default, 0, 0));
        watched.Suspected = evidence;
        SendSuspicion(watched);
    }

    public void Withdraw(ProcessId subject)
    {
        if (!_byId.TryGetValue(subject, out var watched) || watched.Suspected is null) return;
        watched.Suspected = null;
        SendSuspicion(watched);
        Prune();
    }

    /// <summary>
    /// A process is being excluded. Its connection may be up although the process is gone, and its send queue leaves less room for the others; the views without it may wait
    /// for that room. So every process with a link to it looks at that link, whether or not it watches the process. The look may still prove its death.
    /// </summary>
    public void Excluding(ProcessId subject)
    {
        if (_relays.Find(subject.Node) is null) return;
        _excluded.Add(subject.Node);
        LookAtExcluded();
    }

    /// <summary>A process was excluded: drops everything held against it.</summary>
    public void Excluded(ProcessId subject)
    {
        Excluding(subject);
        if (!_byId.TryGetValue(subject, out var watched)) return;
        (watched.Suspected, watched.Assigned) = (null, false);
        Prune(subject);
    }

    /// <summary>A sign of life of that node: a frame, a link that came up, or its answer to another process.</summary>
    public void Heard(ulong nodeId)
    {
        foreach (var watched in _watched)
        {
            if (watched.Subject.Id.Node != nodeId) continue;
            watched.HeardAt = node.Now;
            watched.FailedRounds = 0;
            Observe(watched, null);
        }
    }

    public void OnPing(int peer, ProbeFrame ping) => sender.Reply(peer, new ProbeFrame(true, ping.Number));

    public void OnPong(ulong nodeId) => _relays.Answered(nodeId);

    public void OnIndirectPing(int peer, IndirectProbeFrame request)
    {
        if (request.Number == 0) _relays.Ask(peer, request.Subject, ++_probe);
        else if (request.Relayed) _relays.Say(request.Subject, request.Number);
        else _relays.Introduce(peer, request.Subject, request.Number);
    }

    /// <summary>Whether this node is one of those asked to probe others.</summary>
    public bool Asks(ulong nodeId) => _watched.Exists(helper => helper.Assigned && helper.Subject.Id.Node == nodeId);

    public void OnIndirectPong(IndirectProbeFrame answer)
    {
        foreach (var watched in _watched)
        {
            // An answer counts only if it was asked for and the subject was not heard since. It takes four hops, which may last longer than the rest of the round.
            if (watched.Subject.Id.Node != answer.Subject || node.Now - watched.AskedAt > Relays.Life || watched.HeardAt >= watched.AskedAt) continue;
            // Others reach the subject and this process does not: more likely this process is in poor health.
            Health = Math.Min(WorstHealth, Health + 1);
            Heard(answer.Subject);
            return;
        }
    }

    public void OnFault(int peer, LinkFault fault)
    {
        ulong nodeId = node.Links.NodeIdOf(peer);
        if (nodeId == 0) return;
        NodeAddress address = node.Links.AddressOf(peer);
        foreach (var watched in _watched)
        {
            if (watched.Subject.Id.Node != nodeId || !watched.Assigned) continue;
            // It may have been dialled at an address that is not its own, such as a proxy's among the seeds. A refusal there says nothing about it.
            bool own = address == watched.Subject.Address;
            switch (fault)
            {
                case LinkFault.Reset:
                    node.Links.Probe(peer);
                    LookForProcess(watched, fresh: true);
                    break;
                case LinkFault.Refused:
                    if (own) Observe(watched, Suspicion.Refused);
                    LookForProcess(watched, fresh: false);
                    break;
                case LinkFault.Replaced or LinkFault.WrongCluster when own:
                    Observe(watched, Suspicion.Replaced);
                    break;
            }
        }
        if (fault is LinkFault.Refused or LinkFault.Replaced or LinkFault.WrongCluster && address == directory.NameOf(nodeId, address).Address) OnGone?.Invoke(nodeId);
    }

    public void OnLinkUp(int peer)
    {
        _relays.OnUp(peer);
        ulong nodeId = node.Links.NodeIdOf(peer);
        if (nodeId != 0) Heard(nodeId);
    }

    /// <summary>A link is about to be closed.</summary>
    public void OnClosing(int peer) => _relays.OnClosed(peer);

    /// <summary>The clock jumped: silence during the jump proves nothing. Nobody is suspected until <see cref="Trust"/>.</summary>
    public void Doubt()
    {
        Health = WorstHealth;
        _mute = true;
        foreach (var watched in _watched)
        {
            watched.FailedRounds = 0;
            watched.HeardAt = node.Now;
            watched.NextRound = node.Now;
            if (watched.Observed == Suspicion.Timeout) watched.Observed = null;
        }
    }

    /// <summary>The doubt is over: a lease was granted after the jump.</summary>
    public void Trust() => _mute = false;

    /// <summary>The loop runs late.</summary>
    public void Late() => Health = Math.Min(WorstHealth, Health + 1);

    /// <summary>There is another leader: tells it all suspicions at once.</summary>
    public void SendSuspicions()
    {
        foreach (var watched in _watched)
            if (watched.Evidence is not null) SendSuspicion(watched);
    }

    /// <summary>Called every 100 ms.</summary>
    public void Step()
    {
        _excluded.Tick();
        LookAtExcluded();
        foreach (var watched in _watched)
        {
            if (watched.Assigned) Probe(watched);
            if (watched.Evidence is not null && node.Now - watched.ToldAt >= RepeatEvery) SendSuspicion(watched);
        }
    }

    /// <summary>Looks at the process table again where that is due.</summary>
    public void LookAgain()
    {
        foreach (var watched in _watched)
            if (watched.LookAt <= node.Now) LookForProcess(watched, fresh: false);
        Due = long.MaxValue;
        foreach (var watched in _watched) Due = Math.Min(Due, watched.LookAt);
    }

    private void LookAtExcluded()
    {
        while (_excluded.TryTake(out ulong nodeId))
        {
            // The link may have been closed meanwhile.
            if (_relays.Find(nodeId) is not { } link) continue;
            OnDropped?.Invoke(link, false);
            // Whatever opened the link, from now on it is needed only while something holds it.
            node.Links.Hold(link);
            node.Links.Release(link);
        }
    }

    private MonitoredProcess Add(Subject subject)
    {
        if (_byId.TryGetValue(subject.Id, out var watched)) return watched;
        watched = new(subject, node.Now);
        _watched.Add(watched);
        _byId[subject.Id] = watched;
        return watched;
    }

    private void Prune(ProcessId? excluded = null)
    {
        for (int i = _watched.Count - 1; i >= 0; i--)
        {
            MonitoredProcess watched = _watched[i];
            if (watched.Assigned) continue;
            if (watched.Suspected is null)
            {
                _watched.RemoveAt(i);
                _byId.Remove(watched.Subject.Id);
            }
            // Until the Oracle has excluded the process, a refusal may come from a proxy that is down for a moment.
            bool gone = watched.Observed is Suspicion.Replaced or Suspicion.ProcessGone || (watched.Observed == Suspicion.Refused && watched.Subject.Id == excluded);
            if (watched.Peer < 0) continue;
            // Only probes need the link: where a group suspects the process for good, what is queued for it would count for the node for as long.
            int peer = watched.Peer;
            watched.Peer = -1;
            OnDropped?.Invoke(peer, gone);
            node.Links.Release(peer);
        }
    }

    private void Probe(MonitoredProcess watched)
    {
        long patience = _patience * (1 + Health);
        if (node.Now >= watched.NextRound)
        {
            // If a round is no longer than the time between two steps, or a step came late, the last round left no moment to ask others.
            bool unasked = false;
            if (watched.RoundAt != 0 && watched.HeardAt < watched.RoundAt)
            {
                unasked = !watched.Indirect;
                watched.FailedRounds++;
                if (watched.FailedRounds >= options.ProbeRounds && watched.Observed is null) Observe(watched, Suspicion.Timeout);
                LookForProcess(watched, fresh: false);
            }
            else if (watched.RoundAt != 0)
            {
                Health = Math.Max(0, Health - 1);
            }
            watched.RoundAt = node.Now;
            watched.NextRound = node.Now + patience + _patience;
            watched.Indirect = unasked;
            if (unasked) AskOthers(watched);
            Ping(watched);
        }
        else if (!watched.Indirect && watched.HeardAt < watched.RoundAt && node.Now >= watched.RoundAt + patience)
        {
            watched.Indirect = true;
            AskOthers(watched);
            Ping(watched);
        }
    }

    private void Ping(MonitoredProcess watched)
    {
        int peer = node.Links.Open(watched.Subject.Address, watched.Subject.Id.Node);
        if (peer != watched.Peer)
        {
            node.Links.Hold(peer);
            if (watched.Peer >= 0) node.Links.Release(watched.Peer);
            watched.Peer = peer;
        }
        // A proxy may be back before the link redials by itself.
        if (watched.Observed == Suspicion.Refused) node.Links.Probe(peer);
        sender.Reply(watched.Peer, new ProbeFrame(false, ++_probe));
    }

    private void AskOthers(MonitoredProcess watched)
    {
        watched.AskedAt = node.Now;
        foreach (var helper in _watched)
        {
            if (helper == watched || !helper.Assigned || helper.FailedRounds > 0) continue;
            sender.Send(helper.Subject.Id.Node, helper.Subject.Address, new IndirectProbeFrame(false, watched.Subject.Id.Node));
        }
    }

    private void LookForProcess(MonitoredProcess watched, bool fresh)
    {
        if (watched.Subject.Number == 0 || options.ProcessProbe is not { } probe) return;
        if (fresh) watched.Looks = 0;
        bool gone = IsGone(probe, watched.Subject);
        bool silent = watched.GoneAt != 0 && watched.HeardAt <= watched.GoneAt;
        bool refused = watched.Observed is Suspicion.Refused or Suspicion.Replaced;
        if (gone && (refused || (silent && node.Now - watched.GoneAt >= ConfirmAfter)))
        {
            watched.LookAt = long.MaxValue;
            Observe(watched, Suspicion.ProcessGone);
            OnGone?.Invoke(watched.Subject.Id.Node);
            return;
        }
        // The process lives, whatever its entry in the table says.
        if (watched.GoneAt != 0 && !silent) (gone, watched.Looks) = (false, LookAfter.Length);
        if (gone && watched.GoneAt == 0) watched.GoneAt = node.Now;
        else if (!gone) watched.GoneAt = 0;
        if (watched.GoneAt != 0) watched.LookAt = watched.GoneAt + ConfirmAfter;
        else watched.LookAt = watched.Looks < LookAfter.Length ? node.Now + LookAfter[watched.Looks++] : long.MaxValue;
        Due = Math.Min(Due, watched.LookAt);
    }

    /// <summary>Looks at the process table; a probe that throws has seen nothing.</summary>
    private static bool IsGone(IProcessProbe probe, Subject subject)
    {
        try
        {
            return probe.IsGone(subject.Number, subject.Start);
        }
        catch (Exception)
        {
            return false;
        }
    }

    private void Observe(MonitoredProcess watched, Suspicion? evidence)
    {
        // A process seen to be gone stays so; other evidence gives way to signs of life.
        if (watched.Observed == Suspicion.ProcessGone || watched.Observed == evidence) return;
        watched.Observed = evidence;
        SendSuspicion(watched);
    }

    private void SendSuspicion(MonitoredProcess watched)
    {
        if (_mute || directory.IsEmpty) return;
        if (watched.Evidence is { } evidence)
        {
            if (!watched.Told && node.Log.IsOn) node.Log.Suspects($"{watched.Subject.Id}", $"{watched.Subject.Address}", $"{evidence}");
            watched.Told = true;
            watched.ToldAt = node.Now;
            sender.Send(directory.Target(), new SuspectFrame(watched.Subject.Id, false, evidence, Health));
        }
        else if (watched.Told)
        {
            if (node.Log.IsOn) node.Log.SuspicionWithdrawn($"{watched.Subject.Id}", $"{watched.Subject.Address}");
            watched.Told = false;
            sender.Send(directory.Target(), new SuspectFrame(watched.Subject.Id, true, Suspicion.Timeout, Health));
        }
    }
}
