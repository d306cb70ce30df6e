using System.Buffers;
using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Whatever is joined and created, the state stays small enough for a replica to take, so that a dead replica can be replaced (<see cref="Limits.StateBytes"/>).</summary>
public sealed class StateSizeTests
{
    private const int Processes = 24;
    private readonly Silent _events = new();
    private readonly List<ProcessId> _ids = [];
    private OracleState _state;
    private ulong _index, _number;

    public StateSizeTests() => _state = new(_events, OracleRules.All);

    /// <summary>Joins, leaves, deaths and lost groups in any order: the saved state never has more bytes than are counted, and a copy counts the same.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void What_is_counted_is_never_less_than_what_is_saved_and_the_same_at_each_replica(ulong seed)
    {
        var random = new Prng(seed);
        for (int i = 0; i < Processes; i++) Register();
        for (int step = 0; step < 3_000; step++)
        {
            Step(random);
            if (step % 50 != 0) continue;
            byte[] saved = Saved();
            Assert.True(saved.Length <= _state.Bytes, $"step {step}: {saved.Length} bytes saved, {_state.Bytes} counted");
            var copy = new OracleState(_events, OracleRules.All);
            Assert.True(copy.TryRestore(saved));
            Assert.Equal(_state.Bytes, copy.Bytes);
            if (random.Chance(0.2)) _state = copy;
        }
        // Nothing is counted for ever.
        foreach (var id in _ids) Apply(new Request(default, 0, 0, new Exclude([new(id, true)])));
        foreach (var lost in _state.Lost.ToList()) Apply(new Request(default, 0, 0, new Release(lost.Id)));
        Assert.Empty(_state.Groups);
        Assert.Empty(_state.Processes);
        Assert.Equal(new OracleState(_events, OracleRules.All).Bytes, _state.Bytes);
    }

    [Fact]
    public void A_join_or_a_group_that_a_replica_could_not_be_given_is_refused_with_the_reason()
    {
        _state = new(_events, OracleRules.All, most: new OracleState(_events, OracleRules.All).Bytes + 40_000);
        for (int i = 0; i < Processes; i++) Register();
        int groups = 0;
        while (Join(_ids[0], $"{groups}").Ok) groups++;
        Assert.Contains("limit", _events.Last.Reason, StringComparison.Ordinal);
        Assert.InRange(groups, 2, 60);
        Assert.Null(_state.FindGroup($"{groups}"));
        Assert.True(Saved().Length <= 40_000 + new OracleState(_events, OracleRules.All).Bytes);

        Assert.Contains("limit", Ask(_ids[1], new Create("all", new(), 0, _ids)).Reason, StringComparison.Ordinal);
        int joined = 0;
        while (Join(_ids[1 + joined], "0", new string('t', Limits.TagBytes)).Ok) joined++;
        Assert.Contains("limit", _events.Last.Reason, StringComparison.Ordinal);
        Assert.InRange(joined, 0, 3);
        Assert.Equal(joined, _state.FindGroup("0")!.Queue.Count);
        Assert.Empty(_state.Find(_ids[1 + joined])!.Groups);
        // A process that is already a member needs no more room.
        Assert.True(Join(_ids[0], "0").Ok);

        // Groups that end make room.
        for (int group = 1; group < 4; group++)
        {
            Ask(_ids[0], new Leave(_state.FindGroup($"{group}")!.Id));
            Finish(_state.FindGroup($"{group}")!);
        }
        Assert.True(Join(_ids[5], "new").Ok);
    }

    /// <summary>Former members are in the views that are kept, so they count as long as those views are kept.</summary>
    [Fact]
    public void Members_of_the_views_that_are_kept_count_until_those_are_forgotten()
    {
        for (int i = 0; i < Processes; i++) Register();
        long before = _state.Bytes;
        Ask(_ids[0], new Create("g", new(), 0, _ids));
        var group = _state.FindGroup("g")!;
        long full = _state.Bytes;
        foreach (var id in _ids.Skip(1)) Apply(new Request(id, 0, 0, new Leave(group.Id)));
        while (group.Pending is not null) Finish(group);
        Assert.Single(group.View.Members);
        Assert.InRange(_state.Bytes, full - 3_000, full + 3_000);
        for (int i = 0; i < Limits.InstallsKept; i++)
        {
            Apply(new Request(_ids[0], 0, 0, new Renew(group.Id, group.View.Id)));
            Finish(group);
        }
        Assert.InRange(_state.Bytes - before, 0, (full - before) / 4);
    }

    /// <summary>
    /// Results of a process are kept until its next request says which of them it has. When there are too many in all, each process gets one request answered at a time, and
    /// none waits for others.
    /// </summary>
    [Fact]
    public void Results_that_nobody_fetches_have_a_bound_and_each_process_is_answered_all_the_same()
    {
        _state = new(_events, OracleRules.All, most: new OracleState(_events, OracleRules.All).Bytes, room: 20_000);
        for (int i = 0; i < Processes; i++) Register();
        int answered = 0;
        foreach (var id in _ids)
        {
            for (ulong number = 1; number <= 100; number++)
            {
                Apply(new Request(id, number, 1, new Join("refused", new(), 0, "")));
                if (!_events.Ignored) answered++;
            }
            Assert.InRange(_state.Find(id)!.Results.Count, 1, 100);
        }
        Assert.InRange(answered, Processes, 400);
        Assert.InRange(Saved().Length, 0, new OracleState(_events, OracleRules.All).Bytes + 30_000);
        for (ulong number = 2; number <= 100; number++)
        {
            Apply(new Request(_ids[^1], number, number, new Join("refused", new(), 0, "")));
            Assert.False(_events.Ignored);
        }
    }

    private void Step(Prng random)
    {
        var alive = _ids.Where(_state.IsAlive).ToList();
        var groups = _state.Groups.ToList();
        if (alive.Count < 8)
        {
            Register();
            return;
        }
        var one = alive[random.Next(alive.Count)];
        switch (random.Next(10))
        {
            case 0 or 1 or 2:
                Join(one, $"group {random.Next(12)}", new string('t', random.Next(Limits.TagBytes + 1)));
                break;
            case 3:
                Ask(one, new Create($"group {random.Next(12)} with a long name {new string('€', 30)}", new() { StrictPrimary = random.Chance(0.5) }, 0, [.. alive.Where(_ => random.Chance(0.5))]));
                break;
            case 4 when groups.Count > 0:
                Ask(one, new Leave(groups[random.Next(groups.Count)].Id));
                break;
            case 5 when groups.Count > 0:
                var renewed = groups[random.Next(groups.Count)];
                Ask(one, new Renew(renewed.Id, renewed.View.Id));
                break;
            case 6:
                if (random.Chance(0.2)) Apply(new Request(default, 0, 0, new Exclude([.. alive.Where(_ => random.Chance(0.3)).Select(id => new Exclusion(id, random.Chance(0.5)))])));
                break;
            case 7:
                if (_state.Lost.Count > 0 && random.Chance(0.3)) Apply(new Request(default, 0, 0, new Release(_state.Lost.First().Id)));
                else Register();
                break;
            default:
                if (groups.Where(static group => group.Pending is not null).ToList() is { Count: > 0 } pending) Finish(pending[random.Next(pending.Count)]);
                break;
        }
    }

    private void Register()
    {
        ulong node = 0xF000_0000_0000_0000 + (ulong)_ids.Count;
        Apply(new Request(default, 0, 0, new Register(node, new($"192.168.100.100:{10_000 + _ids.Count}"), new string('p', _ids.Count % Limits.TagBytes), "host", 1, 1, Durations.Second)));
        _ids.Add(_events.Last.Process);
    }

    private OperationResult Join(ProcessId process, string name, string tag = "") => Ask(process, new Join(name, new(), 0, tag));

    /// <summary>Asks with a floor that keeps some results for a while.</summary>
    private OperationResult Ask(ProcessId process, Operation operation)
    {
        Apply(new Request(process, ++_number, _number - (_number % 5), operation));
        return _events.Last;
    }

    private void Apply(Request request) => _state.Apply(++_index, OperationCodec.WriteEntry([request]));

    private void Finish(GroupRecord group)
    {
        var proposal = group.Pending!.Proposal;
        var leader = group.View.Members[proposal.LeaderIn(group.View)].Id;
        Apply(new(leader, 0, 0, new ViewCompletion(group.Id, proposal.BaseView, proposal.Number, [.. proposal.Survivors, .. proposal.Leavers])));
    }

    private byte[] Saved()
    {
        var buffer = new ArrayBufferWriter<byte>();
        _state.Save(buffer);
        return buffer.WrittenSpan.ToArray();
    }

    private sealed class Silent : IStateEvents
    {
        public OperationResult Last { get; private set; } = OperationResult.Completed;

        public bool Ignored { get; private set; }

        public void OnAnswered(Request request, OperationResult result) => (Last, Ignored) = (result, false);

        public void OnIgnored(Request request) => (Last, Ignored) = (OperationResult.Refused("ignored"), true);

        public void OnRegistered(ProcessRecord process)
        {
        }

        public void OnExcluded(ProcessRecord process)
        {
        }

        public void OnProposed(GroupRecord group)
        {
        }

        public void OnInstalled(GroupRecord group, IReadOnlyList<ViewMember> goers)
        {
        }

        public void OnOver(GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned)
        {
        }

        public void OnRestored()
        {
        }
    }
}
