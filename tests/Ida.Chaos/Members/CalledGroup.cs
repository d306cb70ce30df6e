using System.Buffers;
using System.Buffers.Binary;
using System.Collections.Concurrent;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing.Calls;

namespace Ida.Chaos.Members;

/// <summary>
/// A group of which this member makes every call there is, one after the other, some of them given up, and which it leaves and joins again now and then. Messages of a sender come once and
/// in their order, an ordered one is handled here when its call returns, a question that is ordered finds the same state everywhere, and views follow each other.
/// </summary>
internal sealed class CalledGroup(CallLedger calls, string who, Prng random, Func<bool> rest)
{
    private const int PauseMs = 50, Kinds = 60;
    private static readonly TimeSpan s_query = TimeSpan.FromSeconds(10), s_bound = TimeSpan.FromMinutes(3), s_join = TimeSpan.FromMinutes(5);
    private readonly ConcurrentDictionary<(string Handler, ProcessId From), ulong> _heard = [];
    private ulong _chain = 1, _number, _lastOwn;
    private bool _isOver;
    private Group? _group;

    /// <summary>One life of the node: ends with it, or when the run comes to rest.</summary>
    public async Task RunAsync(IdaNode node)
    {
        while (!rest() && !_isOver)
        {
            (_chain, _group) = (1, null);
            _heard.Clear();
            if (!await TryAsync(CallKind.Join, async token => _group = await node.JoinAsync("called", Configure, cancellationToken: token), s_join)) continue;
            using var left = new CancellationTokenSource();
            var views = ReadViewsAsync(left.Token);
            bool leaves = false;
            while (!rest() && !leaves && !_group!.Completion.IsCompleted)
            {
                await Task.Delay((int)random.Next(1, PauseMs));
                leaves = !await CallAsync();
            }
            await left.CancelAsync();
            await views;
            if (_group!.Completion.IsCompleted) return;
            await TryAsync(CallKind.Leave, token => _group.LeaveAsync(token).AsTask(), s_bound);
            await _group.Completion.WaitAsync(CancellationToken.None).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private void Configure(GroupBuilder group) => group
        .Handle<ulong>("fifo", (from, number) => Hear("fifo", from, number))
        .Handle<ulong>("one", (from, number) => Hear("one", from, number))
        .Handle<ulong>("ordered", OnOrdered)
        .OnQuery<ulong, ulong>("ask", static (_, question) => question + 1)
        .OnQuery<ulong, ulong>("state", (_, _) => _chain)
        .Checkpoint(Save, Load);

    private void OnOrdered(MemberRef from, ulong number)
    {
        Hear("ordered", from, number);
        _chain = (_chain * 0x9E37_79B9_7F4A_7C15) + (number ^ from.Id.Node);
        if (_group is not null && from.Rank == _group.Rank) Volatile.Write(ref _lastOwn, number);
    }

    private void Hear(string handler, MemberRef from, ulong number)
    {
        ulong last = _heard.GetValueOrDefault((handler, from.Id));
        if (number <= last) Break($"message {number} of {from.Id} came to '{handler}' after its {last}");
        _heard[(handler, from.Id)] = number;
    }

    private void Save(IBufferWriter<byte> to)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to.GetSpan(sizeof(ulong)), _chain);
        to.Advance(sizeof(ulong));
    }

    private void Load(ReadOnlyMemory<byte> state) => _chain = BinaryPrimitives.ReadUInt64LittleEndian(state.Span);

    /// <summary>Some call; false when it is time to leave.</summary>
    private async Task<bool> CallAsync()
    {
        var group = _group!;
        ulong number = ++_number;
        int rank = (int)random.Next(group.CurrentView.Members.Count);
        switch (random.Next(Kinds))
        {
            case 0: return random.Next(4) != 0;
            case < 15:
                await TryAsync(CallKind.Send, token => group.SendAsync("fifo", number, token).AsTask(), s_bound);
                break;
            case < 30:
                if (await TryAsync(CallKind.OrderedSend, token => group.OrderedSendAsync("ordered", number, token).AsTask(), s_bound) && Volatile.Read(ref _lastOwn) < number)
                    Break($"the call of ordered message {number} returned before its own member had handled it");
                break;
            case < 40:
                await TryAsync(CallKind.SendTo, token => group.SendToAsync(rank, "one", number, token).AsTask(), s_bound);
                break;
            case < 46:
                await TryAsync(CallKind.Query, async token => Judge(number, await group.QueryAsync<ulong, ulong>("ask", number, DrawReplies(), s_query, token)), s_query);
                break;
            case < 51:
                await TryAsync(CallKind.OrderedQuery, async token => JudgeStates(await group.OrderedQueryAsync<ulong, ulong>("state", number, DrawReplies(), s_query, token)), s_query);
                break;
            case < 56:
                await TryAsync(CallKind.QueryTo, async token =>
                {
                    if (await group.QueryToAsync<ulong, ulong>(rank, "ask", number, s_query, token) != number + 1) Break($"question {number} got the answer to another");
                }, s_query);
                break;
            default:
                await TryAsync(CallKind.Flush, token => group.FlushAsync(token).AsTask(), s_bound);
                break;
        }
        return true;
    }

    private Replies DrawReplies() => random.Next(4) switch { 0 => Replies.First, 1 => Replies.Majority, _ => Replies.All };

    private void Judge(ulong question, IReadOnlyList<MemberReply<ulong>> replies)
    {
        for (int i = 0; i < replies.Count; i++)
            if (replies[i].Value != question + 1 || (i > 0 && replies[i].From.Rank <= replies[i - 1].From.Rank)) Break($"question {question} got {string.Join(", ", replies)}");
    }

    private void JudgeStates(IReadOnlyList<MemberReply<ulong>> replies)
    {
        if (replies.Select(static reply => reply.Value).Distinct().Count() > 1) Break($"members answered from other states: {string.Join(", ", replies)}");
    }

    private async Task ReadViewsAsync(CancellationToken left)
    {
        ulong last = 0;
        await TryAsync(CallKind.Views, async token =>
        {
            await foreach (var view in _group!.Views(token))
            {
                if (last != 0 && view.Id != last + 1) Break($"view {view.Id} came after {last}");
                last = view.Id;
            }
        }, bound: null, left);
    }

    /// <summary>Makes a call, which may be given up; true where it ended well. Where it says that the node is over, so is this.</summary>
    private async Task<bool> TryAsync(CallKind kind, Func<CancellationToken, Task> call, TimeSpan? bound, CancellationToken given = default)
    {
        using var source = CancellationTokenSource.CreateLinkedTokenSource(given);
        if (!given.CanBeCanceled && random.Next(10) == 0) source.CancelAfter((int)random.Next(0, 60));
        try
        {
            await calls.Begin(kind, who, () => call(source.Token), bound: bound, token: source.Token);
            return true;
        }
        catch (Exception error) when (CallErrors.Allows(kind, error, source.IsCancellationRequested))
        {
            _isOver |= error is PoisonedException or NodeStoppedException || (kind == CallKind.Join && error is NotMemberException);
            return false;
        }
    }

    private void Break(string what) => calls.Accuse($"{who} in group 'called': {what}.");
}
