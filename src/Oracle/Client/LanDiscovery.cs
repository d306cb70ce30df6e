using System.Net;
using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle.Frames;

namespace Oracle.Client;

/// <summary>
/// Finds the processes of the cluster on the local network by multicast, for a list of seeds with the entry <see cref="SeedText.Lan"/>: the addresses that others give take that place
/// in the list, and so does that of this process, so each may found.
/// </summary>
/// <remarks>
/// A process that looks for its system asks at 0, 100 and 300 ms and then every second. Voters answer at once, and so do others that look; other members answer after 75 to 200 ms, unless
/// another one of their system was heard first. One answer serves all that asked, and a process gives 20 a second at most. The leader shows itself every second without being asked, so
/// that a system which could not be heard is heard later. What is heard is only where to dial: what a process says over its link decides, and with credentials a process has to prove
/// there that it belongs to the cluster. Source: oracle.md#processes-on-a-local-network-find-each-other.
/// </remarks>
internal sealed class LanDiscovery : ITimerTarget
{
    private const long AnswerApart = 50 * Durations.Millisecond;
    // Longer than voters take, even one that has just answered.
    private const long OthersWait = 75 * Durations.Millisecond;
    private const long OthersAnswerWithin = 125 * Durations.Millisecond;
    private const long ShowEvery = Durations.Second;
    private static readonly long[] s_asksAfter = [0, 100 * Durations.Millisecond, 300 * Durations.Millisecond];
    private readonly INode _node;
    private readonly OracleOptions _options;
    private readonly SeedList _seeds;
    private readonly ILocalNetwork? _network;
    private int _asked;
    private long _began;
    private long _next;
    private long _shown = long.MinValue / 2;
    private bool _isAnswering;
    private bool _isOver;
    private TimerHandle _answer;
    private Standing _standing;
    private SystemId _system;

    public LanDiscovery(INode node, OracleOptions options, SeedList seeds)
    {
        (_node, _options, _seeds) = (node, options, seeds);
        _network = seeds.HasLan ? options.LocalNetwork : null;
    }

    /// <summary>What a process is to those that look for its system.</summary>
    public enum Standing
    {
        Looking,
        Member,
        Voter,
        Leader,
    }

    /// <summary>Called when a process shows itself at an address that was not known.</summary>
    public Action? OnFound { get; set; }

    /// <summary>Begins, or begins anew when the system that was found is given up.</summary>
    public void Start()
    {
        if (_network is null) return;
        if (_began == 0) _network.Open(_node, Heard);
        (_began, _asked, _next) = (Math.Max(_node.Now, 1), 0, _node.Now);
        Ask();
    }

    /// <summary>Called every 100 ms.</summary>
    /// <param name="standing">What this process is now.</param>
    /// <param name="isLost">Whether it has lost contact, and asks like one that looks.</param>
    /// <param name="system">Its system.</param>
    public void Step(Standing standing, bool isLost, SystemId system)
    {
        if (_network is null) return;
        _network.Step();
        (_standing, _system) = (standing, system);
        if ((standing == Standing.Looking || isLost) && _node.Now >= _next) Ask();
        if (standing == Standing.Leader && _node.Now - _shown >= ShowEvery) Show(asks: false);
    }

    /// <summary>This process is of no system any more, and says nothing to others.</summary>
    public void End() => _isOver = true;

    /// <inheritdoc/>
    public void OnTimer(long token)
    {
        _isAnswering = false;
        if (!_isOver) Show(asks: false);
    }

    private void Ask()
    {
        _asked++;
        _next = _asked < s_asksAfter.Length ? _began + s_asksAfter[_asked] : _node.Now + ShowEvery;
        Show(asks: true);
    }

    private void Show(bool asks)
    {
        if (_isAnswering) _node.CancelTimer(_answer);
        _isAnswering = false;
        _shown = _node.Now;
        _network!.Send(new LanNotice(_options.Cluster, asks, new(_node.Id, _node.Links.Local), _standing == Standing.Looking ? default : _system).ToBytes());
    }

    private void Heard(ReadOnlyMemory<byte> datagram)
    {
        if (_isOver) return;
        if (!LanNotice.TryRead(datagram.Span, out var notice))
        {
            _node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        // Other clusters may use the same network.
        if (notice.Cluster != _options.Cluster || notice.From.Node == _node.Id) return;
        if (_network!.IsOfMachine && !(EndPointText.TryParse(notice.From.Address.Text, out var at) && IPAddress.IsLoopback(at.Address))) return;
        bool isNew = _seeds.Discover(notice.From.Address);
        if (notice.Asks) Answer();
        else if (_isAnswering && _standing == Standing.Member && notice.System == _system)
        {
            // That one speaks for the system.
            _isAnswering = false;
            _node.CancelTimer(_answer);
        }
        if (isNew) OnFound?.Invoke();
    }

    private void Answer()
    {
        if (_isAnswering) return;
        long at = Math.Max(_node.Now, _shown + AnswerApart);
        if (_standing == Standing.Member) at += OthersWait + _node.Random.Next(0, OthersAnswerWithin);
        (_isAnswering, _answer) = (true, _node.SetTimer(at, this, 0));
    }
}
