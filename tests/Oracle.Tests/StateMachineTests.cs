using System.Buffers;
using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>The apply rules A1-A6, batching (B9), large groups (B10) and the saved state, without log or network.</summary>
public sealed class StateMachineTests
{
    private readonly Recorder _events = new();
    private OracleState _state;
    private ulong _index;
    private ulong _number;

    public StateMachineTests() => _state = new(_events, OracleRules.All);

    [Fact]
    public void The_first_join_founds_and_the_second_waits_for_a_flush()
    {
        var (a, b) = (Register(1), Register(2));
        GroupRecord group = Join(a);
        Assert.Equal([a], Members(group));
        Assert.True(group.View.Members[0].Initialised);
        Join(b);
        Assert.Equal([b], group.Pending!.Proposal.Joiners.Select(joiner => joiner.Id));
        Finish(group);
        Assert.Equal([a, b], Members(group));
        Assert.False(group.View.Members[1].Initialised);
    }

    [Fact]
    public void A1_an_exclusion_supersedes_and_A3_the_old_flush_does_not_count()
    {
        var (group, ids) = Group(4);
        Apply(Of(ids[0], new Renew(group.Id, group.View.Id)));
        ulong first = group.Pending!.Number;
        Exclude(false, ids[2]);
        Assert.NotEqual(first, group.Pending!.Number);
        Apply(Of(ids[0], new ViewCompletion(group.Id, group.View.Id, first, ids)));
        Assert.Equal(4, group.View.Members.Count);
        Finish(group);
        Assert.Equal([ids[0], ids[1], ids[3]], Members(group));
        Assert.Equal([ids[2]], group.View.Failed);
    }

    [Fact]
    public void A2_a_join_waits_while_a_proposal_is_pending()
    {
        var (group, ids) = Group(2);
        Apply(Of(ids[0], new Renew(group.Id, group.View.Id)));
        ulong pending = group.Pending!.Number;
        var late = Register(9);
        Join(late);
        Assert.Equal(pending, group.Pending!.Number);
        Finish(group);
        Assert.Equal([late], group.Pending!.Proposal.Joiners.Select(joiner => joiner.Id));
    }

    [Fact]
    public void A4_B8_a_proposal_whose_only_joiner_died_still_leads_to_a_view()
    {
        var (group, ids) = Group(2);
        var joiner = Register(9);
        Join(joiner);
        Exclude(true, joiner);
        Assert.NotNull(group.Pending);
        Assert.Empty(group.Pending.Proposal.Joiners);
        Finish(group);
        Assert.Equal(ids, Members(group));
        Assert.Null(group.Pending);
    }

    [Fact]
    public void A3_a_flush_counts_only_from_a_process_that_takes_part_in_it()
    {
        var (group, ids) = Group(3);
        var stranger = Register(9);
        Apply(Of(ids[0], new Renew(group.Id, group.View.Id)));
        Apply(Of(stranger, new ViewCompletion(group.Id, group.View.Id, group.Pending!.Number, [])));
        Assert.Equal((1ul, true), (group.View.Id, group.Pending is not null));
        Finish(group);
        Assert.Equal(2ul, group.View.Id);
    }

    /// <summary>The lowest-ranked initialised survivor leads. Leavers, and members without the state, lead only if there is no better one.</summary>
    [Theory]
    [InlineData("two stay", 1)]
    [InlineData("the first leaves", 2)]
    [InlineData("who holds the state leaves", 1)]
    [InlineData("only who has no state stays", 2)]
    public void A_flush_counts_only_from_the_member_that_leads_it(string which, int leads)
    {
        var (a, b) = (Register(1), Register(2));
        GroupRecord group = Join(a);
        Join(b);
        Finish(group);
        if (which is "two stay" or "the first leaves")
        {
            Apply(Of(a, new Renew(group.Id, group.View.Id)));
            Finish(group);
        }
        Apply(which switch
        {
            "two stay" => Of(b, new Renew(group.Id, group.View.Id)),
            "only who has no state stays" => new(default, 0, 0, new Exclude([new(a, true)])),
            _ => Of(a, new Leave(group.Id)),
        });
        ulong view = group.View.Id;
        var (leader, other) = leads == 1 ? (a, b) : (b, a);
        Apply(Of(other, new ViewCompletion(group.Id, view, group.Pending!.Number, [a, b])));
        Assert.Equal(view, group.View.Id);
        Apply(Of(leader, new ViewCompletion(group.Id, view, group.Pending!.Number, [a, b])));
        Assert.Equal(view + 1, group.View.Id);
    }

    /// <summary>Negative control of A3: the flush of a superseded proposal decides a view for which nobody flushed.</summary>
    [Fact]
    public void Without_A3_a_superseded_flush_decides_the_next_view()
    {
        _state = new(_events, OracleRules.Without(nameof(OracleRules.A3PendingProposalOnly)));
        var (group, ids) = Group(4);
        Apply(Of(ids[0], new Renew(group.Id, group.View.Id)));
        ulong first = group.Pending!.Number;
        Exclude(false, ids[2]);
        ulong second = group.Pending!.Number;
        Apply(Of(ids[0], new ViewCompletion(group.Id, group.View.Id, first, ids)));
        Assert.Equal((2ul, second), (group.View.Id, group.View.Proposal));
    }

    /// <summary>Negative control of A4: a proposal is withdrawn, and members stay wedged by it for ever.</summary>
    [Fact]
    public void Without_A4_a_proposal_is_withdrawn_and_no_view_follows()
    {
        _state = new(_events, OracleRules.Without(nameof(OracleRules.A4NeverWithdraw)));
        var (group, _) = Group(2);
        var joiner = Register(9);
        Join(joiner);
        Assert.NotNull(group.Pending);
        Exclude(true, joiner);
        Assert.Null(group.Pending);
        Assert.Equal(1ul, group.View.Id);
    }

    [Fact]
    public void A5_the_last_acceptor_goes_only_with_proof()
    {
        var (a, b) = (Register(1), Register(2));
        Apply(Of(a, new Create("safe", new(), 1, [a, b])));
        Exclude(false, a);
        Assert.True(_state.IsAlive(a));
        Assert.Contains(a, _state.FindGroup("safe")!.Stalled);
        Exclude(true, a);
        Assert.False(_state.IsAlive(a));
        Assert.Equal([b], _state.FindGroup("safe")!.Pending!.Proposal.Survivors);
    }

    /// <summary>One entry names two acceptors. Proof that the later one is dead says nothing about the other, which may live and be the only one that can vouch.</summary>
    [Fact]
    public void A5_an_acceptor_without_proof_of_death_stays_when_the_other_of_two_is_proved_dead()
    {
        var (a, b, c) = (Register(1), Register(2), Register(3));
        Apply(Of(a, new Create("safe", new(), 2, [a, b, c])));
        Apply(new Request(default, 0, 0, new Exclude([new(a, false), new(b, true)])));
        Assert.Equal((true, false), (_state.IsAlive(a), _state.IsAlive(b)));
        Assert.Equal([a], _state.FindGroup("safe")!.Stalled);
        Exclude(true, a);
        Assert.False(_state.IsAlive(a));
    }

    /// <summary>One of them is enough to vouch for what was delivered, so the other is not kept.</summary>
    [Fact]
    public void A5_one_of_two_acceptors_stays_when_neither_is_proved_dead()
    {
        var (a, b, c) = (Register(1), Register(2), Register(3));
        Apply(Of(a, new Create("safe", new(), 2, [a, b, c])));
        Apply(new Request(default, 0, 0, new Exclude([new(a, false), new(b, false)])));
        Assert.Equal((false, true), (_state.IsAlive(a), _state.IsAlive(b)));
        Assert.Equal([b], _state.FindGroup("safe")!.Stalled);
    }

    /// <summary>Negative control of A5: the only process that can vouch for what was delivered is excluded on suspicion, and may be alive.</summary>
    [Fact]
    public void Without_A5_the_last_acceptor_goes_without_proof()
    {
        _state = new(_events, OracleRules.Without(nameof(OracleRules.A5LastAcceptor)));
        var (a, b) = (Register(1), Register(2));
        Apply(Of(a, new Create("safe", new(), 1, [a, b])));
        Exclude(false, a);
        Assert.False(_state.IsAlive(a));
        Assert.Equal([b], _state.FindGroup("safe")!.Pending!.Proposal.Survivors);
    }

    [Fact]
    public void A6_without_a_holder_the_state_is_lost_and_the_name_free()
    {
        var (a, b) = (Register(1), Register(2));
        GroupRecord group = Join(a);
        Join(b);
        Finish(group);
        Exclude(true, a);
        Apply(Of(b, new ViewCompletion(group.Id, group.View.Id, group.Pending!.Number, [])));
        Assert.Equal(["g: the group's state is lost: no member that held it survives"], _events.Over);
        Assert.NotEqual(group.Id, Join(b).Id);
    }

    [Fact]
    public void A6_counts_what_survivors_report_not_the_flag_of_the_old_view()
    {
        var (a, b) = (Register(1), Register(2));
        GroupRecord group = Join(a);
        Join(b);
        Finish(group);
        Exclude(true, a);
        Finish(group);
        Assert.Equal([b], Members(group));
        Assert.True(group.View.Members[0].Initialised);
    }

    [Fact]
    public void B9_eight_joins_three_failures_and_two_leaves_are_at_most_two_views()
    {
        var (group, ids) = Group(8);
        var joiners = Enumerable.Range(20, 8).Select(node => Register((ulong)node)).ToList();
        ulong before = group.View.Id;
        var requests = joiners.Select(joiner => Of(joiner, new Join("g", new(), 0, ""))).ToList();
        requests.Add(Of(ids[0], new Leave(group.Id)));
        requests.Add(Of(ids[1], new Leave(group.Id)));
        Apply([.. requests]);
        Exclude(true, ids[2], ids[3], ids[4]);
        while (group.Pending is not null) Finish(group);
        Assert.True(group.View.Id <= before + 2, $"{group.View.Id - before} views");
        Assert.Equal(8 - 5 + 8, group.View.Members.Count);
    }

    [Fact]
    public void B10_a_thousand_members_are_one_entry_and_one_view()
    {
        var ids = Enumerable.Range(1, 1_000).Select(node => Register((ulong)node)).ToList();
        Apply(Of(ids[0], new Create("big", new(), 0, ids)));
        GroupRecord group = _state.FindGroup("big")!;
        Assert.Equal(1ul, group.View.Id);
        Assert.Equal(ids, Members(group));
        Exclude(true, [.. ids.Skip(100).Take(100)]);
        Finish(group);
        Assert.Equal(2ul, group.View.Id);
        Assert.Equal(900, group.View.Members.Count);
    }

    [Fact]
    public void B11_a_hot_swap_moves_exactly_the_last_member()
    {
        var (group, ids) = Group(20);
        Exclude(true, ids[5]);
        Finish(group);
        Assert.Equal(ids[19], group.View.Members[5].Id);
        Assert.Equal([new Move(ids[19], 19, 5)], group.View.Moved);
    }

    [Fact]
    public void The_last_member_leaves_by_a_flush_and_the_name_is_free()
    {
        var a = Register(1);
        GroupRecord group = Join(a);
        Apply(Of(a, new Leave(group.Id)));
        Assert.Equal([a], group.Pending!.Proposal.Leavers);
        Finish(group);
        Assert.Null(_state.FindGroup("g"));
        Assert.Empty(_events.Installed[^1].Members);
    }

    [Fact]
    public void A_process_that_asked_to_join_while_the_last_member_left_is_told_that_the_group_is_over_and_may_found_it_anew()
    {
        var (a, b) = (Register(1), Register(2));
        GroupRecord group = Join(a);
        Apply(Of(a, new Leave(group.Id)));
        Apply(Of(b, new Join("g", new(), 0, "")));
        Finish(group);
        Assert.Null(_state.FindGroup("g"));
        Assert.Equal(["g: the group is over: its last members have left"], _events.Over);
        Assert.Empty(_state.Find(b)!.Groups);
        Assert.Equal([b], Members(Join(b)));
    }

    [Fact]
    public void A_repeated_request_has_its_result_and_no_second_effect()
    {
        var a = Register(1);
        var join = Of(a, new Join("g", new(), 0, ""));
        Apply(join);
        GroupId first = _events.Results[^1].Group;
        Apply(Of(a, new Leave(first)));
        Finish(_state.Find(first)!);
        Apply(join);
        Assert.Equal(first, _events.Results[^1].Group);
        Assert.Null(_state.FindGroup("g"));
    }

    [Fact]
    public void Other_options_and_unregistered_members_are_refused_with_the_reason()
    {
        var (a, b) = (Register(1), Register(2));
        Join(a);
        Apply(Of(b, new Join("g", new() { Composition = Composition.Shift }, 0, "")));
        Assert.Contains("options", _events.Results[^1].Reason);
        Apply(Of(b, new Create("h", new(), 0, [b, new(99, 99)])));
        Assert.Contains("not registered", _events.Results[^1].Reason);
    }

    [Fact]
    public void An_excluded_life_cannot_register_again()
    {
        var a = Register(1);
        Exclude(true, a);
        Apply(new Request(new(1, 0), 0, 0, new Register(1, new GroupCore.Transport.NodeAddress("127.0.0.1:1"), "", "", 0, 0, Durations.Second)));
        Assert.False(_events.Results[^1].Ok);
    }

    [Fact]
    public void The_saved_state_restores_to_the_same_bytes_and_refuses_others()
    {
        var (group, ids) = Group(5);
        Join(Register(9));
        Apply(Of(ids[1], new Leave(group.Id)));
        Exclude(false, ids[2]);
        byte[] saved = Save(_state);
        var other = new OracleState(new Recorder(), OracleRules.All);
        Assert.True(other.TryRestore(saved));
        Assert.Equal(saved, Save(other));
        for (int cut = 0; cut < saved.Length; cut += 7) Assert.False(other.TryRestore(saved.AsSpan(0, cut)));
        Assert.Equal(saved, Save(other));
    }

    /// <summary>Reading a large state in one turn would take longer than a new replica may be silent.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(300)]
    [InlineData(100_000)]
    public void A_saved_state_is_read_in_the_parts_in_which_it_comes(int part)
    {
        var (_, ids) = Group(5);
        for (int groups = 1; groups < 4; groups++) Apply(Of(ids[groups], new Create($"g{groups}", new(), 0, ids[groups..])));
        Exclude(false, ids[4]);
        byte[] saved = Save(_state);
        var other = new OracleState(new Recorder(), OracleRules.All);
        var restore = other.BeginRestore();
        for (int come = 0; come < saved.Length;)
        {
            come = Math.Min(come + part, saved.Length);
            Assert.True(restore.TryRead(saved.AsSpan(0, come), come == saved.Length));
        }
        restore.Finish();
        Assert.Equal(saved, Save(other));
        Assert.Equal(_state.Bytes, other.Bytes);
    }

    [Fact]
    public void What_is_no_saved_state_is_seen_when_it_comes_and_changes_nothing()
    {
        byte[] before = Save(_state);
        var other = new OracleState(new Recorder(), OracleRules.All);
        Group(5);
        byte[] saved = Save(_state);
        saved[1]++;
        var restore = other.BeginRestore();
        Assert.True(restore.TryRead(saved.AsSpan(0, 2), all: false));
        Assert.False(restore.TryRead(saved.AsSpan(0, 60), all: false));
        Assert.False(restore.TryRead(saved, all: true));
        Assert.Throws<InvalidOperationException>(restore.Finish);
        Assert.Equal(before, Save(other));
    }

    /// <summary>The entry is committed, so others may have read it. A copy that went on without it would have a different state at the same index.</summary>
    [Fact]
    public void A_malformed_entry_ends_the_copy_that_cannot_read_it_and_changes_nothing()
    {
        Group(3);
        byte[] before = Save(_state);
        var random = new Prng(5);
        for (int i = 0; i < 2_000; i++)
        {
            byte[] bytes = new byte[random.Next(40)];
            for (int at = 0; at < bytes.Length; at++) bytes[at] = (byte)random.Next(256);
            // An array without elements is valid, whatever follows it.
            if (bytes is [0x90, ..]) continue;
            Assert.ThrowsAny<InvalidDataException>(() => _state.Apply(_index + 1, bytes));
        }
        Assert.Equal(before, Save(_state));
    }

    [Theory]
    [InlineData(true, false, true)]
    [InlineData(true, true, false)]
    [InlineData(false, false, false)]
    public void A6_the_name_of_a_lost_group_is_kept_while_a_member_may_hold_a_lease(bool strict, bool proved, bool kept)
    {
        var (a, b) = (Register(1), Register(2));
        var options = new GroupOptions { StrictPrimary = strict };
        Apply(Of(a, new Create("g", options, 0, [a])));
        var lost = _state.FindGroup("g")!.Id;
        Exclude(proved, a);
        Assert.Null(_state.FindGroup("g"));
        var other = new OracleState(_events, OracleRules.All);
        Assert.True(other.TryRestore(Save(_state)));
        _state = other;
        foreach (Operation asks in (Operation[])[new Create("g", options, 0, [b]), new Join("g", options, 0, "")])
        {
            int before = _events.Results.Count;
            Apply(Of(b, asks));
            Assert.Equal(kept ? before : before + 1, _events.Results.Count);
            Assert.Equal(kept, _state.FindGroup("g") is null);
        }
        if (!kept) return;
        Apply(new Request(default, 0, 0, new Release(new(lost.Number + 1, lost.Incarnation))));
        Assert.Single(_state.Lost);
        Apply(new Request(default, 0, 0, new Release(lost)));
        Apply(Of(b, new Join("g", options, 0, "")));
        Assert.Equal([b], Members(_state.FindGroup("g")!));
    }

    /// <summary>Before, each release went through all lost groups; with as many as there may be, every replica was busy for half a minute.</summary>
    [Fact]
    public void The_names_of_thousands_of_lost_groups_are_released_in_one_step_each()
    {
        const int owners = 5, each = 4_000;
        var lost = new List<Request>();
        var ids = Enumerable.Range(1, owners).Select(node => Register((ulong)node)).ToList();
        foreach (var id in ids)
        {
            for (int i = 0; i < each; i++)
            {
                Apply(new Request(id, ++_number, _number, new Join($"{id}-{i}", new(), 0, "")));
                lost.Add(new(default, 0, 0, new Release(_events.Results[^1].Group)));
            }
        }
        Exclude(false, [.. ids]);
        Assert.Equal(owners * each, _state.Lost.Count);
        var other = new OracleState(_events, OracleRules.All);
        Assert.True(other.TryRestore(Save(_state)));
        _state = other;
        var took = System.Diagnostics.Stopwatch.StartNew();
        foreach (var entry in lost.Chunk(256)) Apply(entry);
        Assert.Empty(_state.Lost);
        Assert.InRange(took.Elapsed.TotalSeconds, 0, 1);
    }

    /// <summary>Before, each repeated departure went through all groups of the process, at every replica.</summary>
    [Fact]
    public void A_repeated_departure_costs_no_walk_through_the_groups_of_the_process()
    {
        var a = Register(1);
        for (int i = 0; i < 4_000; i++) Apply(new Request(a, ++_number, _number, new Join($"{i}", new(), 0, "")));
        Apply(new Request(a, ++_number, _number, new Depart(false)));
        Assert.Equal(4_000, _state.Groups.Count(static group => group.Leavers.Count == 1));
        Apply(new Request(a, ++_number, _number, new Depart(false)));
        long before = GC.GetAllocatedBytesForCurrentThread();
        Apply(new Request(a, ++_number, _number, new Depart(false)));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 16_000);
        Assert.True(_events.Results[^1].Ok);
    }

    /// <summary>The first request of process b is for the name of a lost group. So it waits, and the results of all later requests are kept until it is answered.</summary>
    [Fact]
    public void The_oldest_request_of_a_process_is_answered_however_many_later_ones_were()
    {
        var (a, b) = (Register(1), Register(2));
        var lost = Join(a).Id;
        Exclude(false, a);
        Assert.Single(_state.Lost);
        ulong oldest = ++_number;
        Apply(new Request(b, oldest, oldest, new Join("g", new(), 0, "")));
        for (int i = 0; i < Limits.RequestsPerProcess; i++) Apply(new Request(b, ++_number, oldest, new Leave(lost)));
        Apply(new Request(default, 0, 0, new Release(lost)));
        int answers = _events.Results.Count;
        Apply(new Request(b, oldest, oldest, new Join("g", new(), 0, "")));
        Assert.Equal(answers + 1, _events.Results.Count);
        Assert.True(_events.Results[^1].Ok);
        Assert.True(new OracleState(new Recorder(), OracleRules.All).TryRestore(Save(_state)));
        Apply(new Request(b, ++_number, _number, new Leave(lost)));
        Assert.Equal(answers + 2, _events.Results.Count);
    }

    private static byte[] Save(OracleState state)
    {
        var buffer = new ArrayBufferWriter<byte>();
        state.Save(buffer);
        return buffer.WrittenSpan.ToArray();
    }

    private static List<ProcessId> Members(GroupRecord group) => group.View.Members.Select(member => member.Id).ToList();

    private Request Of(ProcessId requester, Operation operation) => new(requester, ++_number, 0, operation);

    /// <summary>The record of a process that is in no view is forgotten with its exclusion. The process remains a voter until another has caught up.</summary>
    [Fact]
    public void R_a_voter_that_is_dead_and_forgotten_does_not_count_as_one_that_answers()
    {
        var bus = new LogBus();
        foreach (ulong node in new ulong[] { 1, 2, 3 }) bus.Add(node);
        bus[1].Found(LogBus.ReplicaOf(1));
        bus.Settle();
        foreach (ulong node in new ulong[] { 2, 3 })
        {
            Assert.True(bus[1].Leading!.TryChange(bus[1].Entries.Configuration.Promote(LogBus.ReplicaOf(node))));
            bus.Settle();
        }
        var ids = new ulong[] { 1, 2, 3 }.Select(Register).ToList();
        // With three voters that answer, one may go, and no more.
        Assert.Single(Kept(false, ids[1], ids[2]));
        Assert.Equal([ids[1]], Kept(false, ids[1]));
        Exclude(true, ids[2]);
        Assert.Null(_state.Find(ids[2]));
        Assert.Empty(Kept(false, ids[1]));
        Assert.Equal([ids[1]], Kept(true, ids[1]));

        List<ProcessId> Kept(bool proved, params ProcessId[] failed)
        {
            var failures = failed.Select(id => new Exclusion(id, proved)).ToList();
            VoterMajority.Keep(failures, bus[1].Leading!, bus[1].Entries.Configuration, _state, new HashSet<ProcessId>(), 1, bus.Parts[1].Now);
            return failures.ConvertAll(static failure => failure.Process);
        }
    }

    private void Apply(params Request[] requests) => _state.Apply(++_index, OperationCodec.WriteEntry(requests));

    private ProcessId Register(ulong node)
    {
        Apply(new Request(new(node, 0), 0, 0, new Register(node, new GroupCore.Transport.NodeAddress($"127.0.0.1:{node}"), "", "", 0, 0, Durations.Second)));
        return _events.Results[^1].Process;
    }

    private GroupRecord Join(ProcessId process)
    {
        Apply(Of(process, new Join("g", new(), 0, "")));
        return _state.FindGroup("g")!;
    }

    private void Exclude(bool proved, params ProcessId[] ids) => Apply(new Request(default, 0, 0, new Exclude(ids.Select(id => new Exclusion(id, proved)).ToList())));

    /// <summary>Completes the flush of the pending proposal, with every member holding the state.</summary>
    private void Finish(GroupRecord group)
    {
        var proposal = group.Pending!.Proposal;
        ProcessId leader = group.View.Members[proposal.LeaderIn(group.View)].Id;
        Apply(Of(leader, new ViewCompletion(group.Id, proposal.BaseView, proposal.Number, [.. proposal.Survivors, .. proposal.Leavers])));
    }

    private (GroupRecord Group, List<ProcessId> Ids) Group(int members)
    {
        var ids = Enumerable.Range(1, members).Select(node => Register((ulong)node)).ToList();
        Apply(Of(ids[0], new Create("g", new(), 0, ids)));
        return (_state.FindGroup("g")!, ids);
    }

    private sealed class Recorder : IStateEvents
    {
        public List<OperationResult> Results { get; } = [];

        public List<View> Installed { get; } = [];

        public List<string> Over { get; } = [];

        public void OnAnswered(Request request, OperationResult result) => Results.Add(result);

        public void OnIgnored(Request request)
        {
        }

        public void OnRegistered(ProcessRecord process)
        {
        }

        public void OnExcluded(ProcessRecord process)
        {
        }

        public void OnProposed(GroupRecord group)
        {
        }

        public void OnInstalled(GroupRecord group, IReadOnlyList<ViewMember> goers) => Installed.Add(group.View);

        public void OnOver(GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned) => Over.Add($"{group.Name}: {reason}");

        public void OnRestored()
        {
        }
    }
}
