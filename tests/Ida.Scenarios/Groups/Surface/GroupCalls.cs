using GroupCore.Groups;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>The calls that careless callers of a group make, from outside and from handlers, and what each may end with.</summary>
internal sealed class GroupCalls(GroupSurface surface)
{
    private const int PeerLimit = (1 << 20) - 64, Limit = 64 << 20, Overhead = 5;
    private readonly Ingredients _drawn = surface.Drawn;
    private readonly Prng _random = surface.Random;

    /// <summary>One call of one kind, or many at once that nobody waits for in between.</summary>
    public void Draw(GroupSeat seat)
    {
        int count = 1;
        if (_random.Chance(0.08))
        {
            _drawn.Draw(GroupNames.Batch);
            count = 2 + (int)_random.Next(60);
            if (_random.Chance(0.04) && surface.Places.Count <= 5)
            {
                _drawn.Draw(GroupNames.LargeBatch);
                count = 1_100;
            }
        }
        long what = _random.Next(100);
        for (int i = 0; i < count && seat.IsUsable; i++)
        {
            switch (what)
            {
                case < 30:
                    Multicast(seat, ordered: false, plain: count > 1);
                    break;
                case < 58:
                    Multicast(seat, ordered: true, plain: count > 1);
                    break;
                case < 73:
                    SendTo(seat, plain: count > 1);
                    break;
                case < 82:
                    Ask(seat, ordered: false);
                    break;
                case < 88:
                    Ask(seat, ordered: true);
                    break;
                case < 93:
                    AskOne(seat);
                    break;
                case < 98:
                    Flush(seat);
                    break;
                default:
                    if (i == 0) ReadViews(seat);
                    break;
            }
        }
    }

    /// <summary>Any call at a seat that is over: it must be told so at once. To leave must succeed, or tell that the node has stopped; to dispose must succeed.</summary>
    public void AfterEnd(GroupSeat seat)
    {
        _drawn.Draw(GroupNames.AfterEnd);
        var group = seat.Group!;
        ReadOnlyMemory<byte> message = new Letter(surface.NextId(ordered: false, nested: false)).Write(0);
        var (task, kind) = _random.Next(6) switch
        {
            0 => (Started(() => group.SendAsync("fifo", message).AsTask()), CallKind.Send),
            1 => (Started(() => group.OrderedSendAsync("ordered", message).AsTask()), CallKind.OrderedSend),
            2 => (Started(() => group.SendToAsync(0, "peer", message.ToArray()).AsTask()), CallKind.SendTo),
            3 => (Started(() => group.QueryAsync<byte[], byte[]>("ask", message.ToArray()).AsTask()), CallKind.Query),
            4 => (Started(() => group.FlushAsync().AsTask()), CallKind.Flush),
            _ => (Started(() => group.QueryToAsync<byte[], byte[]>(0, "ask", message.ToArray()).AsTask()), CallKind.QueryTo),
        };
        Add(kind, "after the end", seat, task, default, TimeSpan.FromSeconds(1), static error => error is null ? "well" : IsOver(error) ? null : $"with {error}");
        Add(CallKind.Leave, "after the end", seat, Started(() => group.LeaveAsync().AsTask()), default, TimeSpan.FromSeconds(4), static error => error is null || (error is NodeStoppedException && IsOver(error)) ? null : $"with {error}");
        Add(CallKind.Dispose, "after the end", seat, Started(() => group.DisposeAsync().AsTask()), default, TimeSpan.FromSeconds(4), static error => error is null ? null : $"with {error}");
    }

    /// <summary>What a message tells a handler to call.</summary>
    public void FromHandler(GroupSeat seat, Letter letter)
    {
        if (!seat.IsUsable) return;
        switch (letter.Deed)
        {
            case Deed.Send:
                _drawn.Draw(GroupNames.NestedSend);
                Multicast(seat, ordered: false, plain: true, nested: true);
                break;
            case Deed.OrderedSend:
                _drawn.Draw(GroupNames.NestedSend);
                Multicast(seat, ordered: true, plain: true, nested: true);
                break;
            case Deed.SendTo:
                _drawn.Draw(GroupNames.NestedTo);
                SendTo(seat, plain: true, nested: true, hops: letter.Argument);
                break;
            case Deed.Relay:
                surface.Relay(seat);
                break;
            case Deed.Query:
                _drawn.Draw(GroupNames.NestedQuery);
                Refused(CallKind.Query, () => seat.Group!.QueryAsync<byte[], byte[]>("ask", []).AsTask());
                Refused(CallKind.OrderedQuery, () => seat.Group!.OrderedQueryAsync<byte[], byte[]>("ask", []).AsTask());
                Refused(CallKind.QueryTo, () => seat.Group!.QueryToAsync<byte[], byte[]>(0, "ask", []).AsTask());
                break;
            case Deed.Flush:
                _drawn.Draw(GroupNames.NestedFlush);
                Refused(CallKind.Flush, () => seat.Group!.FlushAsync().AsTask());
                break;
            case Deed.Leave:
                _drawn.Draw(GroupNames.NestedLeave);
                Leave(seat, default);
                break;
            case Deed.Dispose:
                _drawn.Draw(GroupNames.NestedDispose);
                Dispose(seat);
                break;
            case Deed.Join:
                if (surface.Join(seat.Place) is not null) _drawn.Draw(GroupNames.NestedJoin);
                break;
        }
    }

    public void Leave(GroupSeat seat, CallTiming timing)
    {
        if (timing.Token.IsCancellationRequested)
        {
            Add(CallKind.Leave, "cancelled already", seat, Started(() => seat.Group!.LeaveAsync(timing.Token).AsTask()), timing, null, static error => error is OperationCanceledException ? null : $"with {error}", endsByToken: true);
            return;
        }
        seat.IsLeaving = true;
        Add(CallKind.Leave, "", seat, EndAsync(seat, Started(() => seat.Group!.LeaveAsync(timing.Token).AsTask())), timing, null, error => error switch
        {
            null => null,
            OperationCanceledException when timing.Source is not null => null,
            NodeStoppedException when !seat.Place.IsActive || seat.HasEnded => null,
            _ => $"with {error}",
        }, endsByToken: true);
        if (timing.Source is not null) _ = FollowAsync(seat);
    }

    public void Dispose(GroupSeat seat)
    {
        seat.IsLeaving = seat.IsDisposing = true;
        Add(CallKind.Dispose, "", seat, EndAsync(seat, Started(() => seat.Group!.DisposeAsync().AsTask())), default, GroupSurface.DisposeBound, error =>
        {
            if (seat.Group!.Protocol.Phase == GroupPhase.Withdrawn) _drawn.Draw(GroupNames.DisposeAlone);
            return error is null ? null : $"with {error}";
        });
    }

    /// <summary>A handler awaits the end of its own membership. That call must complete at once, since the end waits for the handler.</summary>
    public async Task EndFromHandlerAsync(GroupSeat seat, bool dispose)
    {
        _drawn.Draw(dispose ? GroupNames.AwaitedDispose : GroupNames.AwaitedLeave);
        seat.IsLeaving = true;
        seat.IsDisposing |= dispose;
        var ending = Started(() => dispose ? seat.Group!.DisposeAsync().AsTask() : seat.Group!.LeaveAsync().AsTask());
        Add(dispose ? CallKind.Dispose : CallKind.Leave, "awaited by a handler", seat, ending, default, TimeSpan.FromSeconds(1), static error => error is null ? null : $"with {error}");
        _ = FollowAsync(seat);
        await ending.ConfigureAwait(false);
    }

    /// <summary>More than a joiner with the least backlog holds, one after the other as the window opens.</summary>
    public void Flood(GroupSeat seat)
    {
        for (int i = 0; i < 24 && seat.IsUsable; i++) Multicast(seat, ordered: i % 4 == 0, plain: true, size: 300_000);
    }

    /// <summary>A call that the schedule's user code made: it must succeed, or fail with an error that is allowed.</summary>
    public void Watch(CallKind kind, string what, GroupSeat seat, Task task, Func<Exception, bool> allowed) =>
        Add(kind, what, seat, task, default, null, error => error is null || allowed(error) ? null : $"with {error}");

    // For calls that do not wait for the end. How the membership ends is judged elsewhere.
    private async Task FollowAsync(GroupSeat seat)
    {
        try
        {
            await EndAsync(seat, seat.Group!.Completion);
        }
        catch (Exception error) when (error is NotMemberException or GroupOverloadedException or ExcludedException or NodeStoppedException)
        {
        }
    }

    private async Task EndAsync(GroupSeat seat, Task leaving)
    {
        try
        {
            await leaving;
        }
        finally
        {
            // A member that went before the others had decided its leave is gone for them like one that crashed: they may never get what it has handled.
            if (seat.Group!.Completion.IsCompletedSuccessfully && seat.Group.Protocol.Phase != GroupPhase.Withdrawn) seat.HasLeft();
            else if (seat.Group.Completion.IsCompleted) seat.End();
        }
    }

    private void Multicast(GroupSeat seat, bool ordered, bool plain, bool nested = false, int size = 0)
    {
        _drawn.Draw(ordered ? GroupNames.OrderedSend : GroupNames.Send);
        if (!plain && _random.Chance(0.05))
        {
            _drawn.Draw(GroupNames.Empty);
            // Empty messages cannot be told apart, so their count is part of the state.
            Add(CallKind.Send, "empty", seat, Started(() => seat.Group!.SendAsync("empty", ReadOnlyMemory<byte>.Empty).AsTask()), default, null, error => error is null || IsOverAt(seat, error) ? null : $"with {error}");
            return;
        }
        if (!plain) size = DrawSize();
        var timing = plain ? default : CallTiming.Draw(_random, _drawn);
        bool later = !seat.Shared.Inline && size < PeerLimit && _random.Chance(0.3);
        var letter = DrawLetter(ordered, nested, later, plain);
        if (size > Limit) timing = default;
        ReadOnlyMemory<byte> message = letter.Write(size);
        if (timing.Before || size > Limit) surface.Never(letter.Id);
        else seat.All.Sent(seat.Id, letter.Id, ordered ? MulticastKind.Ordered : MulticastKind.Fifo);
        var call = Started(() => (later, ordered) switch
        {
            (true, true) => Taken(seat, seat.Group!.OrderedSendAsync("later", message.ToArray(), timing.Token), plain),
            (true, false) => Taken(seat, seat.Group!.SendAsync("later", message.ToArray(), timing.Token), plain),
            (false, true) => Taken(seat, seat.Group!.OrderedSendAsync("ordered", message, timing.Token), plain),
            _ => Taken(seat, seat.Group!.SendAsync("fifo", message, timing.Token), plain),
        });
        Add(ordered ? CallKind.OrderedSend : CallKind.Send, nested ? "by a handler" : "", seat, SentAsync(ordered ? CallKind.OrderedSend : CallKind.Send, call, seat, letter.Id, seat.All), timing, null, error => error switch
        {
            null when timing.Before => "well, though its token was cancelled before",
            null when size > Limit => "well, though it is too large",
            null when ordered && !nested && !seat.HasEnded && !seat.HasHandled(letter.Id) => "before its own member had handled it",
            null => null,
            MessageTooLargeException when size > Limit => null,
            OperationCanceledException when timing.Source is { IsCancellationRequested: true } => null,
            SendQueueFullException => null,
            _ when IsOverAt(seat, error) => null,
            _ => $"with {error}",
        }, cancelled: timing.Before ? null : () => seat.All.Abandoned(letter.Id));
    }

    private void SendTo(GroupSeat seat, bool plain, bool nested = false, int hops = 0)
    {
        _drawn.Draw(GroupNames.SendTo);
        var view = seat.Group!.CurrentView;
        int rank = (int)_random.Next(view.Members.Count), size = 0;
        if (!plain && _random.Chance(0.1))
        {
            _drawn.Draw(GroupNames.PeerLimit);
            size = PeerLimit - Overhead;
        }
        else if (!plain && _random.Chance(0.05))
        {
            _drawn.Draw(GroupNames.TooLarge);
            size = PeerLimit + 1;
        }
        var timing = plain ? default : CallTiming.Draw(_random, _drawn);
        if (size > PeerLimit) timing = default;
        bool later = !seat.Shared.Inline && _random.Chance(0.3);
        var letter = DrawLetter(ordered: false, nested, later, plain);
        if (hops > 1 || (!nested && _random.Chance(0.2))) letter = letter with { Deed = Deed.SendTo, Actor = rank, Argument = nested ? hops - 1 : 4 };
        SendTo(seat, view, rank, letter, size, timing, nested, later);
    }

    /// <summary>A message that its receiver's asynchronous handler handles.</summary>
    public void SendTo(GroupSeat seat, Letter letter, bool nested) => SendTo(seat, seat.Group!.CurrentView, letter.Actor, letter, size: 0, timing: default, nested, later: true);

    private void SendTo(GroupSeat seat, View view, int rank, Letter letter, int size, CallTiming timing, bool nested, bool later)
    {
        var checker = nested ? seat.Nested : seat.All;
        if (nested && seat.HandlesPeer && view.Members[rank].Initialised) surface.OfView(letter.Id, view.Id);
        if (timing.Before || size > PeerLimit) surface.Never(letter.Id);
        else
        {
            checker.PeerSent(seat.Id, view.Members[rank].Id, letter.Id);
            // What is sent to a member without the state may be dropped with the view (R15).
            if (!view.Members[rank].Initialised) checker.Abandoned(letter.Id);
        }
        var call = Started(() => Taken(seat, seat.Group!.SendToAsync(rank, later ? "peer later" : "peer", letter.Write(size), timing.Token), plain: nested));
        Add(CallKind.SendTo, nested ? "by a handler" : "", seat, SentAsync(CallKind.SendTo, call, seat, letter.Id, checker), timing, null, error => error switch
        {
            null when timing.Before => "well, though its token was cancelled before",
            null when size > PeerLimit => "well, though it is too large",
            null => null,
            MemberGoneException => Stays(seat, view.Members[rank].Id) ? $"though {view.Members[rank].Id} stays" : null,
            MessageTooLargeException when size > PeerLimit => null,
            OperationCanceledException when timing.Source is { IsCancellationRequested: true } => null,
            SendQueueFullException => null,
            _ when IsOverAt(seat, error) => null,
            _ => $"with {error}",
        }, cancelled: timing.Before ? null : () => checker.Abandoned(letter.Id));
    }

    /// <summary>The task of a call. Of some calls the result is taken too early, and once too often.</summary>
    private Task Taken(GroupSeat seat, ValueTask call, bool plain) =>
        plain || call.IsCompleted || !_random.Chance(0.05) || GroupMisuse.MayBlock(seat) ? call.AsTask() : GroupMisuse.TakeAsync(call, _drawn);

    // A message whose call failed may have been sent or not, unless the error says that it was not and never will be.
    private async Task SentAsync(CallKind kind, Task call, GroupSeat seat, ulong id, VirtualSynchronyChecker checker)
    {
        try
        {
            await call;
            // A handler's call does not wait until its own member has handled the message.
            if (kind == CallKind.OrderedSend && !GroupSurface.IsNested(id) && !seat.HasEnded) checker.Returned(id);
        }
        catch (Exception error)
        {
            checker.Abandoned(id);
            if (CallErrors.MeaningOf(kind, error) is ErrorMeaning.NotDone or ErrorMeaning.Misuse) surface.Never(id);
            throw;
        }
    }

    private void Ask(GroupSeat seat, bool ordered)
    {
        _drawn.Draw(ordered ? GroupNames.OrderedQuery : GroupNames.Query);
        var (replies, wanted) = DrawReplies(seat.Group!.CurrentView.Members.Count);
        var (letter, later) = DrawQuestion(seat);
        var timeout = DrawTimeout();
        var timing = CallTiming.Draw(_random, _drawn);
        string handler = later ? "ask later" : "ask";
        byte[] message = letter.Write(DrawSmallSize());
        var begun = surface.Simulation.Now;
        if (!timing.Before) seat.All.Sent(seat.Id, letter.Id, ordered ? MulticastKind.Ordered : MulticastKind.Fifo);
        var task = Started(() => ordered
            ? seat.Group.OrderedQueryAsync<byte[], byte[]>(handler, message, replies, timeout, timing.Token).AsTask()
            : seat.Group.QueryAsync<byte[], byte[]>(handler, message, replies, timeout, timing.Token).AsTask());
        Add(ordered ? CallKind.OrderedQuery : CallKind.Query, "", seat, task, timing, BoundOf(timeout), error => error switch
        {
            null => timing.Before ? "well, though its token was cancelled before" : CheckReplies(((Task<IReadOnlyList<MemberReply<byte[]>>>)task).Result, letter, wanted, ordered && seat.Shared.HasState) ?? Missing(seat, replies, ((Task<IReadOnlyList<MemberReply<byte[]>>>)task).Result, letter),
            QueryAbortedException when replies == Replies.All && MayAbort(letter) => null,
            TooFewRepliesException few => TooFew(seat, replies, wanted, few, letter),
            _ => JudgeQuery(seat, timeout, timing, begun, error),
        }, endsByToken: true, question: letter.Id, cancelled: timing.Before ? null : () => seat.All.Abandoned(letter.Id));
        if (!timing.Before) Follow(seat.All, letter.Id, task, timeout);
    }

    /// <summary>A question goes the way of a message, and is judged as one until its asker may have given it up: then it may be sent or not.</summary>
    private void Follow(VirtualSynchronyChecker checker, ulong question, Task task, TimeSpan? timeout)
    {
        if (BoundOf(timeout) is { } time) surface.Simulation.After(time * GroupSurface.LeastClock, () =>
        {
            if (!task.IsCompletedSuccessfully) checker.Abandoned(question);
        });
        _ = task.ContinueWith(_ => checker.Abandoned(question), CancellationToken.None, TaskContinuationOptions.NotOnRanToCompletion | TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
    }

    private void AskOne(GroupSeat seat)
    {
        _drawn.Draw(GroupNames.QueryTo);
        int rank = (int)_random.Next(seat.Group!.CurrentView.Members.Count);
        var (letter, later) = DrawQuestion(seat);
        letter = letter with { Actor = rank };
        var to = seat.Group.CurrentView.Members[rank].Id;
        var timeout = DrawTimeout();
        var timing = CallTiming.Draw(_random, _drawn);
        var begun = surface.Simulation.Now;
        surface.ToOne(letter.Id);
        if (!timing.Before)
        {
            seat.All.PeerSent(seat.Id, to, letter.Id);
            // It may be dropped, as any message to a member without the state.
            if (!seat.Group.CurrentView.Members[rank].Initialised) seat.All.Abandoned(letter.Id);
        }
        var task = Started(() => seat.Group.QueryToAsync<byte[], byte[]>(rank, later ? "ask later" : "ask", letter.Write(DrawSmallSize()), timeout, timing.Token).AsTask());
        Add(CallKind.QueryTo, "", seat, task, timing, BoundOf(timeout), error => error switch
        {
            null when timing.Before => "well, though its token was cancelled before",
            null => Letter.Read(((Task<byte[]>)task).Result).Id == letter.Id ? null : "with the answer to another query",
            QueryAbortedException when MayAbort(letter) => null,
            MemberGoneException => Stays(seat, to) ? $"though {to} stays" : null,
            // A link that is lost may take the answer with it.
            TooFewRepliesException => surface.IsCalm && letter.Deed != Deed.AnswerNull && Stays(seat, to) ? $"though {to} stays" : null,
            _ => JudgeQuery(seat, timeout, timing, begun, error),
        }, endsByToken: true, question: letter.Id, cancelled: timing.Before ? null : () => seat.All.Abandoned(letter.Id));
        if (!timing.Before) Follow(seat.All, letter.Id, task, timeout);
    }

    private string? JudgeQuery(GroupSeat seat, TimeSpan? timeout, CallTiming timing, TimeSpan begun, Exception error) => error switch
    {
        OperationCanceledException when timing.Source is { IsCancellationRequested: true } => null,
        QueryTimeoutException when timeout != Timeout.InfiniteTimeSpan => surface.Simulation.Now - begun >= (timeout ?? s_default) * GroupSurface.LeastClock ? null : "before its time",
        SendQueueFullException => null,
        _ => IsOverAt(seat, error) ? null : $"with {error}",
    };

    private static readonly TimeSpan s_default = TimeSpan.FromSeconds(30);

    private static TimeSpan? BoundOf(TimeSpan? timeout) => timeout == Timeout.InfiniteTimeSpan ? null : timeout ?? s_default;

    private static bool MayAbort(Letter letter) => letter.Deed is Deed.Abort or Deed.Throw or Deed.AnswerLarge;

    private static string? CheckReplies(IReadOnlyList<MemberReply<byte[]>> replies, Letter letter, int wanted, bool alike)
    {
        if (replies.Count < wanted) return $"with {replies.Count} replies instead of {wanted}";
        for (int i = 0; i < replies.Count; i++)
        {
            if (Letter.Read(replies[i].Value).Id != letter.Id) return "with the answer to another query";
            if (i > 0 && replies[i].From.Rank <= replies[i - 1].From.Rank) return "with replies that are not in rank order";
            if (!alike || replies[i].Value.Length != Letter.Size + 8 || replies[0].Value.Length != Letter.Size + 8) continue;
            if (!replies[i].Value.AsSpan(Letter.Size).SequenceEqual(replies[0].Value.AsSpan(Letter.Size))) return $"with answers from other states: of {replies[0].From} and {replies[i].From}";
        }
        return null;
    }

    /// <summary>
    /// A member that should have answered and did not. Judged only if the asker's handlers have come to the question and to all views since. Exempt are members that have ended
    /// or had no state, and the one that the question told not to answer.
    /// </summary>
    private string? Missing(GroupSeat seat, Replies replies, IReadOnlyList<MemberReply<byte[]>> answers, Letter letter)
    {
        if (AskedIn(seat, letter) is not { } asked) return null;
        var later = seat.ViewsAfter(asked);
        return Answers.Missing(replies, [.. answers.Select(static answer => answer.From)], asked, later, one => later.Exists(view => !view.Members[Math.Max(0, view.RankOf(one))].Initialised)
            || (letter.Deed == Deed.AnswerNull && letter.Actor % asked.Members.Count == asked.RankOf(one)) || SeatsOf(seat.Shared, one).Exists(static other => !other.IsUsable)) is { } wrong ? $"though {wrong}" : null;
    }

    /// <summary>
    /// Judges a query with too few replies. That may happen only if members have gone, had no state yet, or have no value to give; or where links may be lost, since a lost link
    /// may take any answer with it.
    /// </summary>
    private string? TooFew(GroupSeat seat, Replies replies, int wanted, TooFewRepliesException few, Letter letter)
    {
        if (few.Got >= few.Wanted || (surface.IsCalm && replies == Replies.All)) return $"with {few}";
        if (!surface.IsCalm || AskedIn(seat, letter) is not { } asked) return null;
        var later = seat.ViewsAfter(asked);
        int needed = replies == Replies.Majority ? (asked.Members.Count(static one => one.Initialised) / 2) + 1 : wanted;
        int able = asked.Members.Count(one => one.Initialised && later.TrueForAll(view => view.RankOf(one.Id) is >= 0 and var rank && view.Members[rank].Initialised)
            && !((MayAbort(letter) || letter.Deed == Deed.AnswerNull) && letter.Actor % asked.Members.Count == asked.RankOf(one.Id)) && !SeatsOf(seat.Shared, one.Id).Exists(static other => !other.IsUsable));
        return few.Wanted == needed && able < needed ? null : $"with {few}, though {able} members have a value, and {needed} were asked for";
    }

    /// <summary>The view in which a question came to the handlers of its asker, if these have come to all views since, and the asker goes on; null if not.</summary>
    /// <remarks>Calls may end after a view of the protocol to which slow handlers have not come yet.</remarks>
    private static View? AskedIn(GroupSeat seat, Letter letter) =>
        seat.IsUsable && seat.View!.Id == seat.Group!.CurrentView.Id && seat.View.Id == seat.Group.Protocol.View?.Id && !seat.Group.Status.ChangingView ? seat.ViewOf(letter.Id) : null;

    /// <summary>
    /// Whether a process has been a member since its first join, and still is one: also in the view of the protocol, which the seat's program may not have come to, although
    /// calls end there.
    /// </summary>
    private bool Stays(GroupSeat seat, ProcessId one) =>
        SeatsOf(seat.Shared, one) is [{ IsUsable: true }] && seat.IsUsable && seat.Group!.CurrentView.RankOf(one) >= 0 && seat.Group.Protocol.View?.RankOf(one) >= 0 && !seat.Group.Status.ChangingView;

    private List<GroupSeat> SeatsOf(SharedGroup group, ProcessId one) => [.. surface.Places.SelectMany(static place => place.Seats).Where(seat => seat.Shared == group && seat.Id == one)];

    private void Flush(GroupSeat seat)
    {
        _drawn.Draw(GroupNames.Flush);
        var timing = CallTiming.Draw(_random, _drawn);
        var task = timing.Before ? Started(() => seat.Group!.FlushAsync(timing.Token).AsTask()) : FlushAsync(seat, timing.Token);
        Add(CallKind.Flush, "", seat, task, timing, null, error => error switch
        {
            null => null,
            OperationCanceledException when timing.Source is { IsCancellationRequested: true } => null,
            _ => IsOverAt(seat, error) ? null : $"with {error}",
        }, endsByToken: true);
    }

    private static async Task FlushAsync(GroupSeat seat, CancellationToken token)
    {
        var flush = seat.All.FlushCalled(seat.Id);
        await seat.Group!.FlushAsync(token);
        if (!seat.HasEnded) seat.All.FlushReturned(flush);
    }

    private void ReadViews(GroupSeat seat)
    {
        _drawn.Draw(GroupNames.Views);
        var timing = CallTiming.Draw(_random, _drawn);
        Add(CallKind.Views, "", seat, ReadAsync(seat, timing.Token), timing, null, error => error switch
        {
            null when !seat.IsUsable => null,
            null => "though its group goes on",
            OperationCanceledException when timing.Source is { IsCancellationRequested: true } => null,
            _ => IsOverAt(seat, error) ? null : $"with {error}",
        }, endsByToken: true, goesOn: true);
    }

    private static async Task ReadAsync(GroupSeat seat, CancellationToken token)
    {
        ulong last = 0;
        await foreach (var view in seat.Group!.Views(token))
        {
            if (last != 0 && view.Id != last + 1) throw new ScenarioFailedException($"A reader at {seat.Id} got view {view.Id} after {last}.");
            last = view.Id;
        }
    }

    /// <summary>In a handler such a call would wait for itself, so it must be refused at once.</summary>
    private void Refused(CallKind kind, Func<Task> call)
    {
        surface.Open.Refused<InvalidOperationException>(kind, () => GroupMisuse.Ended(call));
    }

    private (Letter Letter, bool Later) DrawQuestion(GroupSeat seat)
    {
        bool later = !seat.Shared.Inline && _random.Chance(0.4);
        var letter = new Letter(surface.NextId(ordered: false, nested: false), Deed.Nothing, (int)_random.Next(64));
        switch (_random.Next(12))
        {
            case 0:
                _drawn.Draw(GroupNames.AnswerNull);
                return (letter with { Deed = Deed.AnswerNull }, later);
            case 1:
                _drawn.Draw(GroupNames.AnswerAbort);
                return (letter with { Deed = Deed.Abort }, later);
            case 2:
                _drawn.Draw(GroupNames.AnswerThrows);
                return (letter with { Deed = Deed.Throw }, later);
            case 3:
                _drawn.Draw(GroupNames.AnswerLarge);
                return (letter with { Deed = Deed.AnswerLarge, Argument = (int)_random.Next(20, 2 << 20) }, later);
            case 4 or 5 when later:
                _drawn.Draw(GroupNames.AnswerBlocks);
                return (letter with { Deed = Deed.Block, Argument = DrawBlock() }, later);
            case 6 when later && surface.MayStick:
                _drawn.Draw(GroupNames.AnswerStuck);
                return (letter with { Deed = Deed.Stick }, later);
            default: return (letter, later);
        }
    }

    private Letter DrawLetter(bool ordered, bool nested, bool later, bool plain)
    {
        var letter = new Letter(surface.NextId(ordered, nested), Deed.Nothing, (int)_random.Next(64));
        if (plain || nested) return letter;
        switch (_random.Next(30))
        {
            case 0 or 1: return letter with { Deed = Deed.Throw };
            case 2 or 3:
                _drawn.Draw(later ? GroupNames.Blocks : GroupNames.SlowWorker);
                return letter with { Deed = Deed.Block, Argument = DrawBlock() };
            case 4 when later && surface.MayStick:
                _drawn.Draw(GroupNames.Stuck);
                return letter with { Deed = Deed.Stick };
            case 5: return letter with { Deed = Deed.Send };
            case 6: return letter with { Deed = Deed.OrderedSend };
            case 7: return letter with { Deed = Deed.SendTo, Argument = 3 };
            case 8: return letter with { Deed = Deed.Query };
            case 9: return letter with { Deed = Deed.Flush };
            case 10 when _random.Chance(0.4): return letter with { Deed = Deed.Leave, Argument = later ? (int)_random.Next(2) : 0 };
            case 11 when _random.Chance(0.4): return letter with { Deed = Deed.Dispose, Argument = later ? (int)_random.Next(2) : 0 };
            case 12: return letter with { Deed = Deed.Join };
            default: return letter;
        }
    }

    private int DrawBlock()
    {
        if (!_random.Chance(0.15)) return (int)_random.Next(1, 400);
        _drawn.Draw(GroupNames.BlocksLong);
        return (int)_random.Next(400, 10_000);
    }

    private int DrawSmallSize() => _random.Chance(0.1) ? (int)_random.Next(100_000) : 0;

    private int DrawSize()
    {
        switch (_random.Next(400))
        {
            case < 60:
                _drawn.Draw(GroupNames.Kilobytes);
                return (int)_random.Next(60_000);
            case < 70:
                _drawn.Draw(GroupNames.Fragments);
                return (int)_random.Next(60_000, 2_000_000);
            case 70 when surface.Places.Count <= 2 && !surface.IsOver:
                _drawn.Draw(GroupNames.Limit);
                return Limit;
            default: return 0;
        }
    }

    private TimeSpan? DrawTimeout()
    {
        switch (_random.Next(6))
        {
            case 0:
                _drawn.Draw(GroupNames.ShortTimeout);
                return TimeSpan.FromMicroseconds(_random.Next(1, 200_000));
            case 1:
                _drawn.Draw(GroupNames.InfiniteTimeout);
                return Timeout.InfiniteTimeSpan;
            case 2: return TimeSpan.FromSeconds(1 + _random.Next(8));
            default: return null;
        }
    }

    private (Replies Replies, int Wanted) DrawReplies(int members)
    {
        switch (_random.Next(8))
        {
            case 0:
                _drawn.Draw(GroupNames.First);
                return (Replies.First, 1);
            case 1:
                _drawn.Draw(GroupNames.Majority);
                return (Replies.Majority, 1);
            case 2:
                _drawn.Draw(GroupNames.AtLeast);
                int count = 1 + (int)_random.Next(members);
                return (Replies.AtLeast(count), count);
            case 3:
                _drawn.Draw(GroupNames.TooMany);
                return (Replies.AtLeast(members + 30), members + 30);
            default:
                _drawn.Draw(GroupNames.All);
                return (Replies.All, 0);
        }
    }

    private static bool IsOver(Exception error) => error is NotMemberException or ExcludedException or NodeStoppedException and not NodeFaultedException { InnerException: not DrawnFaultException };

    /// <summary>Whether an error says that the membership is over, and it is.</summary>
    public static bool IsOverAt(GroupSeat seat, Exception error) => IsOver(error) && !seat.IsUsable;

    private void Add(CallKind kind, string what, GroupSeat seat, Task task, CallTiming timing, TimeSpan? bound, Func<Exception?, string?> judge, bool endsByToken = false, bool goesOn = false, Action? cancelled = null, ulong? question = null)
    {
        surface.Open.Add(new(kind, $"{what}{(what.Length > 0 ? " " : "")}in {seat.Shared.Name}", seat.Place, task, surface.Simulation.Now)
        {
            Bound = bound, Timing = timing, EndsByToken = endsByToken, GoesOn = goesOn, Cancelled = cancelled,
            Judge = ended =>
            {
                var error = CallErrors.ErrorOf(ended);
                if (question is { } asked && error is not null && (timing.Before || CallErrors.MeaningOf(kind, error) is ErrorMeaning.NotDone or ErrorMeaning.Misuse)) surface.Never(asked);
                return judge(error);
            },
        });
    }

    // A refusal may come as an exception of the call itself.
    private static Task Started(Func<Task> call)
    {
        try
        {
            return call();
        }
        catch (Exception error) when (error is not ScenarioFailedException)
        {
            return Task.FromException(error);
        }
    }
}
