using GroupCore.Runtime;
using GroupCore.Transport.Credentials;
using Oracle.Leading;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>The leader asks the user's function who may join which group (oracle.md#a-join-is-asked-for).</summary>
public sealed class JoinRuleTests
{
    private readonly List<string> _asked = [];
    private readonly LoneLeader _leader;
    private Func<bool> _says = static () => true;
    private ulong _number;

    public JoinRuleTests() => _leader = new(3, new() { CanJoin = MayJoin });

    private int Requests => _leader.Replica.Services.Held.Requests;

    private long Denied => _leader.Part.Counters.Refused(RefusalReason.Denied);

    [Fact]
    public void A_join_is_in_the_log_only_after_the_rule_has_allowed_it()
    {
        Ask(2, "g");
        Go();
        Assert.False(Exists("g"));
        Answer();
        Go();
        Assert.Equal(["peer 2 g"], _asked);
        Assert.True(Exists("g"));
        Assert.Equal((0, 0), (Requests, Denied));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_join_that_the_rule_denies_or_about_which_it_fails_is_answered_and_counted(bool throws)
    {
        _says = () => throws ? throw new InvalidOperationException("What rule?") : false;
        Ask(2, "g");
        Assert.Equal(1, Requests);
        Answer();
        Go();
        Assert.False(Exists("g"));
        Assert.Equal((0, 1), (Requests, Denied));
    }

    /// <summary>The user's code may hang. Its answer, when it comes, is too late.</summary>
    [Fact]
    public void A_join_about_which_the_rule_says_nothing_is_refused_after_5_s()
    {
        Ask(2, "g");
        _leader.Bus.Pass(JoinRule.Limit - 1);
        _leader.Replica.Services.Tick();
        Assert.Equal((1, 0), (Requests, Denied));
        _leader.Bus.Pass(1);
        _leader.Replica.Services.Tick();
        Go();
        Assert.Equal((0, 1), (Requests, Denied));
        Answer();
        Go();
        Assert.False(Exists("g"));
        Assert.Equal(1, Denied);
    }

    [Fact]
    public void The_rule_is_called_by_16_at_once_at_most_and_the_others_follow()
    {
        for (int i = 0; i < JoinRule.MostAtOnce + 5; i++) Ask(2, $"g{i}");
        Assert.Equal(JoinRule.MostAtOnce, _leader.Part.Work.Count);
        Answer();
        Assert.Equal(5, _leader.Part.Work.Count);
        Answer();
        Go();
        Assert.True(Exists("g20"));
    }

    /// <summary>Calls that never return keep their places; what waits behind them is refused in time.</summary>
    [Fact]
    public void Joins_behind_calls_that_hang_are_refused_too()
    {
        for (int i = 0; i < JoinRule.MostAtOnce + 5; i++) Ask(2, $"g{i}");
        _leader.Bus.Pass(JoinRule.Limit);
        _leader.Replica.Services.Tick();
        Go();
        Assert.Equal((0, JoinRule.MostAtOnce + 5), (Requests, Denied));
        Assert.Equal(JoinRule.MostAtOnce, _leader.Part.Work.Count);
    }

    [Fact]
    public void What_a_process_asks_beyond_64_is_forgotten_and_holds_up_nobody()
    {
        for (int i = 0; i < JoinRule.MostOfProcess + 1; i++) Ask(2, $"g{i}");
        Ask(3, "h");
        Assert.Equal(JoinRule.MostOfProcess + 1, Requests);
        while (_leader.Part.Work.Count > 0) Answer();
        Go();
        Assert.True(Exists("h"));
        Assert.False(Exists($"g{JoinRule.MostOfProcess}"));
        Ask(2, $"g{JoinRule.MostOfProcess}");
        Answer();
        Go();
        Assert.True(Exists($"g{JoinRule.MostOfProcess}"));
    }

    /// <summary>The answer was lost with a leader, and the rule has changed its mind: the process is a member, and must not be told that it was refused.</summary>
    [Fact]
    public void The_repeat_of_a_join_that_is_decided_is_not_asked_for_again()
    {
        Ask(2, "g");
        Answer();
        Go();
        _says = static () => false;
        Send(2, new(_leader.IdOf(2), _number, _number, new Join("g", new(), 0, "")));
        Assert.Empty(_leader.Part.Work);
        Go();
        Assert.Equal((0, 0), (Requests, Denied));
    }

    /// <summary>A repeat was under way when the answer was sent, and the rule changes its mind: the process has been told no, and must not become a member.</summary>
    [Fact]
    public void A_join_that_was_refused_stays_refused()
    {
        _says = static () => false;
        Ask(2, "g");
        Answer();
        Go();
        _says = static () => true;
        Send(2, new(_leader.IdOf(2), _number, _number, new Join("g", new(), 0, "")));
        Assert.Empty(_leader.Part.Work);
        Go();
        Assert.False(Exists("g"));
        Assert.Equal((0, 1), (Requests, Denied));
        Ask(2, "g");
        Answer();
        Go();
        Assert.True(Exists("g"));
    }

    /// <summary>What is over leaves, though nobody calls the rule for it any more.</summary>
    [Fact]
    public void Behind_calls_that_hang_nothing_gathers()
    {
        var rule = new JoinRule(_leader.Part, static (_, _) => true, static (_, _) => { });
        for (int round = 0; round < 10; round++)
        {
            for (ulong i = 0; i < 50; i++) Assert.True(rule.TryAsk(new(_leader.IdOf(2), i, 0, new Join("g", new(), 0, "")), new("x"), "g"));
            _leader.Bus.Pass(JoinRule.Limit);
            rule.Tick();
            Assert.Equal(0, rule.Waiting);
        }
        Assert.Equal(JoinRule.MostAtOnce, _leader.Part.Work.Count);
    }

    [Fact]
    public void Only_the_leader_itself_denies()
    {
        Send(2, new(_leader.IdOf(2), ++_number, _number, new Deny("no")));
        Assert.Equal((0, 1), (Requests, _leader.Part.Counters.Refused(RefusalReason.NotEntitled)));
    }

    /// <summary>What an earlier leadership asked concerns nobody: the process asks the next leader.</summary>
    [Fact]
    public void An_answer_that_comes_after_the_leadership_counts_for_nothing()
    {
        Ask(2, "g");
        _leader.Replica.Services.Reset();
        _leader.Replica.Services.OnProgress();
        Answer();
        Go();
        Assert.False(Exists("g"));
        Ask(2, "g");
        Answer();
        Go();
        Assert.True(Exists("g"));
    }

    [Fact]
    public void Without_an_identity_and_in_the_name_of_others_nobody_joins()
    {
        _leader.Replica.Services.OnRequest(0, LogBus.ReplicaOf(2), new(_leader.IdOf(2), ++_number, _number, new Join("g", new(), 0, "")));
        Send(2, new(_leader.IdOf(2), ++_number, _number, new Create("h", new(), 0, [_leader.IdOf(2), _leader.IdOf(3)])));
        Send(2, new(_leader.IdOf(2), ++_number, _number, new Create("own", new(), 0, [_leader.IdOf(2)])));
        Answer();
        Go();
        Assert.Equal(["peer 2 own"], _asked);
        Assert.Equal((false, false, true), (Exists("g"), Exists("h"), Exists("own")));
        Assert.Equal(0, Requests);
    }

    [Fact]
    public void Without_the_rule_a_process_joins_what_it_may_not() =>
        Assert.NotNull(OracleScenarios.Surface.FirstWithout(nameof(OracleRules.JoinRule), OracleSurface.InDenied, 60));

    private bool MayJoin(NodeIdentity identity, string group)
    {
        _asked.Add($"{identity.Name} {group}");
        return _says();
    }

    private bool Exists(string group) => _leader.Replica.State.FindGroup(group) is not null;

    private void Ask(ulong node, string group) => Send(node, new(_leader.IdOf(node), ++_number, _number, new Join(group, new(), 0, "")));

    private void Send(ulong node, Request request) => _leader.Replica.Services.OnRequest((int)node, LogBus.ReplicaOf(node), request);

    // The calls that are under way return, and what they say reaches the loop.
    private void Answer()
    {
        for (int calls = _leader.Part.Work.Count; calls > 0; calls--) _leader.Part.Work.Dequeue().Run();
        while (_leader.Part.Commands.TryDequeue(out var said)) said.Run();
    }

    private void Go()
    {
        _leader.Turn();
        _leader.Bus.Pass(RequestBatcher.GatherTime);
        _leader.Turn();
    }
}
