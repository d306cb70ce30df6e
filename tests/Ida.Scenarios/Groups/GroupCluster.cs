using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;
using Oracle;

namespace Ida.Scenarios;

/// <summary>Members of one group in a simulation, without an Oracle, under a checker.</summary>
internal sealed class GroupCluster : IDisposable
{
    /// <summary>The rule of the Oracle that the scripted one has too.</summary>
    public const string PendingProposalOnly = nameof(OracleRules.A3PendingProposalOnly);

    private readonly string? _without;
    private readonly GroupOptions? _options;
    private readonly Action<GroupBuilder>? _more;
    private ulong _messages;

    public GroupCluster(ulong seed, int members, string? without = null, Composition composition = Composition.HotSwap, Action<GroupBuilder>? more = null, LinkModel? link = null,
        Func<INode, INode>? tap = null, Action<GroupCluster>? beforeMembers = null)
        : this(new Simulation(new SimulationOptions { Seed = seed, Link = link ?? new(), ReplayCommand = $"seed {seed}" }), members, without, composition, more, tap, beforeMembers: beforeMembers)
    {
    }

    public GroupCluster(Simulation simulation, int members, string? without = null, Composition composition = Composition.HotSwap, Action<GroupBuilder>? more = null, Func<INode, INode>? tap = null,
        GroupOptions? options = null, Action<GroupCluster>? beforeMembers = null)
    {
        (_without, _more, Simulation, Tap, Calls) = (without, more, simulation, tap ?? (static node => node), simulation.KeepCalls(CallLedger.Longest));
        _options = (options ?? new()) with { Composition = composition };
        Oracle = new(Simulation) { AcceptsOldDone = without == PendingProposalOnly };
        beforeMembers?.Invoke(this);
        for (int i = 0; i < members; i++) Add();
    }

    public Simulation Simulation { get; }

    /// <summary>What members see of their node.</summary>
    public Func<INode, INode> Tap { get; }

    public ScriptedOracle Oracle { get; }

    /// <summary>Every call of the members.</summary>
    public CallLedger Calls { get; }

    public VirtualSynchronyChecker Checker { get; } = new(new() { StatesAgree = true });

    /// <summary>
    /// Messages sent by handlers go to a checker of their own: while a member is wedged they overtake its callers' messages, which wait for
    /// the next view (multicast.md#answers-may-cross-views), so only each kind by itself is first in, first out.
    /// </summary>
    public VirtualSynchronyChecker Chains { get; } = new();

    /// <summary>The view in which an ordered message was delivered.</summary>
    public Dictionary<ulong, ulong> ViewOf { get; } = [];

    public List<string> Violations { get; } = [];

    public List<TestMember> Members { get; } = [];

    public int StateBytes { get; set; }

    /// <summary>Options of members that come without their own.</summary>
    public GroupHostOptions? HostOptions { get; set; }

    public List<TestMember> Usable => [.. Members.Where(m => m.Usable)];

    public TestMember this[int index] => Members[index];

    public TestMember Add(Action<GroupBuilder>? more = null, GroupHostOptions? host = null, CancellationToken token = default)
    {
        var member = new TestMember(this, Simulation.AddNode(null, _without), _options, more ?? _more, host ?? HostOptions, token);
        Members.Add(member);
        return member;
    }

    public int IndexOf(TestMember member) => Members.IndexOf(member);

    public ulong NextMessage() => ++_messages;

    /// <summary>Runs until all members that live are in one view, all initialised.</summary>
    public bool Settle(double seconds = 10) => Simulation.RunUntil(IsSettled, TimeSpan.FromSeconds(seconds));

    private bool IsSettled()
    {
        if (Oracle.Find("g") is not { Pending: null } group || group.Queue.Count > 0) return false;
        foreach (var member in Members)
        {
            if (member.Ended || !member.SimNode.Alive) continue;
            if (member.Group is null || member.Group.CurrentView.Id != group.View) return false;
        }
        return group.Members.TrueForAll(m => m.Initialised);
    }

    /// <summary>All members but <paramref name="late"/>, which has acknowledged the end of the view, install the next one; it follows when it is no longer deaf.</summary>
    public void ChangeViewWithout(TestMember late, TestMember? crashed = null)
    {
        var protocol = late.Group!.Protocol;
        if (crashed is null) Oracle.RequestView(Oracle.Find("g")!.Id);
        else
        {
            crashed.Crash();
            Oracle.Fail(crashed.Membership);
        }
        Assert.True(Simulation.RunUntil(() => protocol.IsWedged && protocol.Flush.Acked, TimeSpan.FromSeconds(5)));
        late.Membership.Deaf = true;
        ulong view = protocol.View!.Id;
        Assert.True(Simulation.RunUntil(() => Members.TrueForAll(m => m == late || m == crashed || m.Group!.Protocol.View!.Id > view), TimeSpan.FromSeconds(5)));
        Assert.Equal(view, protocol.View.Id);
    }

    /// <summary>The verdict at rest; null when all is well.</summary>
    public string? Verdict(bool atRest = true)
    {
        Checker.CheckFinal(atRest);
        Chains.CheckFinal(atRest);
        Calls.Finish(onlyOver: !atRest);
        return Calls.Wrong ?? (!Checker.Passed ? Checker.ToString() : Nested.Broken(Chains) is { } chains ? $"chains: {chains}" : Violations.Count > 0 ? string.Join('\n', Violations.Take(5)) : null);
    }

    public void Dispose() => Simulation.Dispose();
}
