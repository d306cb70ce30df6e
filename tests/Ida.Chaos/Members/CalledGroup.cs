using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Chaos.Members;

/// <summary>
/// A group in which this member makes every call there is, one after the other. Some calls are given up, and now and then the member leaves the group and joins it again.
/// <see cref="CalledSeat"/> checks what the handlers must hear. Besides, this member has handled its ordered message when the call returns, an ordered question finds the same state
/// everywhere, and views follow each other. All this ends only when the run comes to rest, or the life of the node ends.
/// </summary>
internal sealed class CalledGroup(CallLedger calls, CallBounds bounds, string who, Prng random, Func<bool> rest)
{
    private const int PauseMs = 50, Kinds = 60;

    /// <summary>How long after a call an upcall may come, or the node may say that it has ended.</summary>
    private static readonly TimeSpan s_later = TimeSpan.FromSeconds(15);
    private readonly Numbering _fifo = new(), _ordered = new();
    private readonly Dictionary<ProcessId, Numbering> _one = [];
    private ulong _question;
    private Exception? _over;
    private Group? _group;
    private CalledSeat? _seat;

    /// <summary>Serves one life of the node. Waits first until the part of the life before has ended, since that part might still join.</summary>
    public async Task RunAsync(IdaNode node, Task earlier)
    {
        var self = node.Id;
        await earlier.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        while (!rest() && _over is null && node.Id == self)
        {
            (_group, _seat) = (null, new(self, Break));
            if (await TryAsync(CallKind.Join, async token => _group = await node.JoinAsync("called", _seat.Configure, cancellationToken: token), bounds.Join) != CallEnd.Done)
            {
                await Task.Delay((int)random.Next(1, PauseMs));
                continue;
            }
            if (node.Id != self)
            {
                // The join came in the next life, whose own part waits for the end of this one.
                await TryAsync(CallKind.Leave, token => _group!.LeaveAsync(token).AsTask(), bounds.Send);
                await EndAsync();
                return;
            }
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
            bool known = !_group!.Completion.IsCompleted && await TryAsync(CallKind.Leave, token => _group.LeaveAsync(token).AsTask(), bounds.Send) == CallEnd.Done;
            await EndAsync();
            BeginAnew(known);
        }
        if (_over is not null) await CheckEndAsync(node, self);
    }

    /// <summary>Waits for the membership to end: it must end with the node, or in such a way that it is joined again.</summary>
    private async Task EndAsync()
    {
        try
        {
            await _group!.Completion.WaitAsync(bounds.Send);
        }
        catch (TimeoutException)
        {
            Break($"its membership did not end within {bounds.Send}");
        }
        catch (Exception error) when (error is ExcludedException or NodeStoppedException)
        {
            _over ??= error;
        }
        catch (Exception error) when (error is NotMemberException or GroupOverloadedException)
        {
            await Console.Error.WriteLineAsync($"{who} in group 'called': {error.GetType().Name}: {error.Message}");
        }
    }

    /// <summary>If a call said that the node's life is over, it must be over.</summary>
    private async Task CheckEndAsync(IdaNode node, ProcessId self)
    {
        for (var waited = TimeSpan.Zero; node.Id == self && node.State == MembershipState.Active && !rest(); waited += TimeSpan.FromMilliseconds(PauseMs))
        {
            if (waited > s_later)
            {
                Break($"it ended, and its node goes on: {_over}");
                return;
            }
            await Task.Delay(PauseMs);
        }
    }

    /// <summary>Nobody may know what was sent in a membership that did not end by a completed leave. A message to one member is promised only while both stay.</summary>
    private void BeginAnew(bool known)
    {
        foreach (var to in _one.Values) to.BeginAnew();
        if (known) return;
        _fifo.BeginAnew();
        _ordered.BeginAnew();
    }

    /// <summary>Makes some call; false when it is time to leave.</summary>
    private async Task<bool> CallAsync()
    {
        var group = _group!;
        var view = group.CurrentView;
        int rank = (int)random.Next(view.Members.Count);
        switch (random.Next(Kinds))
        {
            case 0: return random.Next(4) != 0;
            case < 15:
                _fifo.Note(await TryAsync(CallKind.Send, token => group.SendAsync("fifo", _fifo.Next, token).AsTask(), bounds.Send));
                break;
            case < 30:
                var ordered = _ordered.Next;
                var end = await TryAsync(CallKind.OrderedSend, token => group.OrderedSendAsync("ordered", ordered, token).AsTask(), bounds.Send);
                _ordered.Note(end);
                if (end == CallEnd.Done && _seat!.LastOwn != ordered.Number) Break($"the call of ordered message {ordered.Number} returned when its own member had handled {_seat.LastOwn}");
                break;
            case < 40:
                await SendToAsync(group, view, rank);
                break;
            case < 46:
                await AskAsync(CallKind.Query, (question, replies, token) => group.QueryAsync<(ulong, ulong), ulong>("ask", (question, _fifo.Last), replies, CallBounds.Query, token),
                    (question, answers) => answers.All(one => one.Value == question + 1));
                break;
            case < 51:
                await AskAsync(CallKind.OrderedQuery, (question, replies, token) => group.OrderedQueryAsync<(ulong, ulong), ulong>("state", (question, _ordered.Last), replies, CallBounds.Query, token),
                    static (_, answers) => answers.Select(static one => one.Value).Distinct().Count() <= 1);
                break;
            case < 56:
                ulong asked = ++_question;
                await TryAsync(CallKind.QueryTo, async token =>
                {
                    if (await group.QueryToAsync<(ulong, ulong), ulong>(rank, "ask", (asked, 0), CallBounds.Query, token) != asked + 1) Break($"question {asked} got the answer to another");
                }, CallBounds.Query);
                break;
            default:
                await TryAsync(CallKind.Flush, token => group.FlushAsync(token).AsTask(), bounds.Send);
                break;
        }
        return true;
    }

    private async Task SendToAsync(Group group, View view, int rank)
    {
        var id = view.Members[rank].Id;
        if (!_one.TryGetValue(id, out var to)) _one[id] = to = new();
        bool moved = false;
        var end = await TryAsync(CallKind.SendTo, token =>
        {
            var sent = group.SendToAsync(rank, "one", (to.Next.Number, to.Next.Anew, id.Node), token).AsTask();
            moved = group.CurrentView.Id != view.Id;
            return sent;
        }, bounds.Send);
        to.Note(moved && end == CallEnd.Done ? CallEnd.Perhaps : end);
    }

    /// <summary>Asks all members, and checks that the answers are right and as many as were asked for.</summary>
    private async Task AskAsync(CallKind kind, Func<ulong, Replies, CancellationToken, ValueTask<IReadOnlyList<MemberReply<ulong>>>> ask, Func<ulong, IReadOnlyList<MemberReply<ulong>>, bool> areRight)
    {
        ulong question = ++_question;
        var replies = random.Next(4) switch { 0 => Replies.First, 1 => Replies.Majority, _ => Replies.All };
        IReadOnlyList<MemberReply<ulong>> answers = [];
        if (await TryAsync(kind, async token => answers = await ask(question, replies, token), CallBounds.Query) != CallEnd.Done) return;
        string told = $"{kind} {question} got [{string.Join(", ", answers.Select(static one => $"{one.From.Rank}: {one.Value}"))}]";
        if (!areRight(question, answers)) Break($"{told}, an answer to another question, or from differing states");
        MemberRef[] from = [.. answers.Select(static one => one.From)];
        View? asked = null;
        // A member whose answer is missing may have gone; a view tells that, and handlers hear of the view in their turn. Once the membership is over, nothing more comes.
        bool heard = await UntilAsync(() => _seat!.Asked.TryGetValue(question, out asked));
        bool right = heard && await UntilAsync(() => Answers.Missing(replies, from, asked, _seat!.ViewsAfter(asked!)) is null);
        _seat!.Asked.TryRemove(question, out _);
        if (right || _group!.Completion.IsCompleted) return;
        Break($"{told}: {(heard ? Answers.Missing(replies, from, asked, _seat.ViewsAfter(asked!)) : "the question did not come to its asker")}");
    }

    /// <summary>Whether a condition holds, or comes to hold soon.</summary>
    private async Task<bool> UntilAsync(Func<bool> isSo)
    {
        for (var waited = TimeSpan.Zero; !isSo(); waited += TimeSpan.FromMilliseconds(PauseMs))
        {
            if (waited > s_later || _group!.Completion.IsCompleted) return false;
            await Task.Delay(PauseMs);
        }
        return true;
    }

    private async Task ReadViewsAsync(CancellationToken left)
    {
        ulong last = 0;
        await TryAsync(CallKind.Views, async token =>
        {
            await foreach (var view in _group!.Views(token))
            {
                if (last != 0 && view.Id != last + 1) Break($"view {view.Id} was read after {last}");
                last = view.Id;
            }
        }, bound: null, left);
    }

    /// <summary>Makes a call, which may be given up. If the call says that the node is over, so is this part.</summary>
    private async Task<CallEnd> TryAsync(CallKind kind, Func<CancellationToken, Task> call, TimeSpan? bound, CancellationToken given = default)
    {
        using var source = CancellationTokenSource.CreateLinkedTokenSource(given);
        if (!given.CanBeCanceled && random.Next(10) == 0) source.CancelAfter((int)random.Next(0, 60));
        try
        {
            var caller = _group is { } group ? new Membership(group, calls) : null;
            await calls.Begin(kind, who, () => call(source.Token), caller, bound, token: source.Token);
            return CallEnd.Done;
        }
        catch (Exception error) when (CallErrors.Allows(kind, error, source.IsCancellationRequested))
        {
            if (error is ExcludedException or NodeStoppedException || (kind == CallKind.Join && error is NotMemberException)) _over ??= error;
            return CallErrors.MeaningOf(kind, error) == ErrorMeaning.NotDone ? CallEnd.NotDone : CallEnd.Perhaps;
        }
    }

    private void Break(string what) => calls.Accuse($"{who} in group 'called': {what}.");

    /// <summary>A membership of the group, as the caller of a call knows it.</summary>
    private sealed class Membership(Group group, CallLedger calls) : ICaller
    {
        public CallerLife Life => group.Completion.IsCompleted ? CallerLife.Over : CallerLife.GoesOn;

        public TimeSpan Clock => calls.Now;
    }
}
