using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;
using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// A membership of a process in a group, from the call of join on: its handlers do what messages tell them, and all that happens goes to the
/// checker. Its state is a sum over messages in sender order and a chain over ordered ones.
/// </summary>
internal sealed class GroupSeat
{
    private const int HookMessage = 16;
    private static readonly TimeSpan s_hook = TimeSpan.FromSeconds(2);
    private static readonly SynchronizationContext s_place = new();
    private static readonly CultureInfo s_culture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
    private readonly GroupSurface _surface;
    private readonly SeatHabits _habits;
    private readonly MemberEnd _end;
    private readonly HashSet<ulong> _handled = [];
    private readonly Dictionary<ulong, View> _questions = [];
    private readonly List<View> _views = [];
    private ulong _sum, _chain = 1, _loadedView;

    // What the handler was called for that awaits something now.
    private string? _atWork;
    private (VirtualSynchronyChecker All, VirtualSynchronyChecker Nested)? _judged;

    public GroupSeat(GroupSurface surface, GroupPlace place, SharedGroup shared, SeatHabits habits)
    {
        (_surface, Place, Shared, _habits) = (surface, place, shared, habits);
        (Life, Id) = (place.Member.Host, place.Member.Node.Id);
        _end = new(surface.Simulation);
    }

    public SeatHabits Habits => _habits;

    public GroupPlace Place { get; }

    public SharedGroup Shared { get; }

    public SimNode Life { get; }

    public ProcessId Id { get; }

    public Group? Group { get; set; }

    /// <summary>The call of join has not ended.</summary>
    public bool IsJoining { get; set; } = true;

    public bool IsLeaving { get; set; }

    /// <summary>It waits only for a limited time for the others to decide its leave.</summary>
    public bool IsDisposing { get; set; }

    /// <summary>When it was found to be over at a node that goes on.</summary>
    public TimeSpan? OverSince { get; set; }

    /// <summary>How it ended was judged.</summary>
    public bool IsJudged { get; set; }

    /// <summary>Its join was cancelled before the call, so nobody may hear of it.</summary>
    public bool IsNever { get; set; }

    public bool HasEnded => _end.HasEnded;

    /// <summary>One of its handlers does not end before the schedule does.</summary>
    public bool IsStuck { get; private set; }

    /// <summary>The view its handlers are in, null before the first.</summary>
    public View? View { get; private set; }

    public bool IsUsable => Group is { Completion.IsCompleted: false } && !HasEnded && !IsLeaving && Place.IsActive && Place.Member.Host == Life;

    /// <summary>Whether it is or will be a member if nothing more happens.</summary>
    public bool IsOpen => !HasEnded && (IsJoining || IsUsable);

    /// <summary>Whether it was a membership and is none any more, as its program can see.</summary>
    public bool IsOver => Group is { Completion.IsCompleted: true };

    /// <summary>Whether a handler of a message to this member alone is at work: what it sends to one member belongs to that message's view (R13).</summary>
    public bool HandlesPeer { get; private set; }

    /// <summary>For how long its user code was at work: a group that evicts may exclude it only if that was long.</summary>
    public UserWork Work { get; } = new();

    public bool HasHandled(ulong message) => _handled.Contains(message);

    /// <summary>The view in which a question came to its handler here; null: it did not come, or not yet.</summary>
    public View? ViewOf(ulong question) => _questions.GetValueOrDefault(question);

    /// <summary>The views after the given one to which its handlers have come.</summary>
    public List<View> ViewsAfter(View view) => _views.FindAll(later => later.Id > view.Id);

    public VirtualSynchronyChecker All => _judged!.Value.All;

    public VirtualSynchronyChecker Nested => _judged!.Value.Nested;

    private ulong Digest => _sum ^ (_chain * 0x9E3779B97F4A7C15);

    public void Configure(GroupBuilder g)
    {
        if (IsNever) _surface.Fail("A join that was cancelled before the call begins.");
        g.HandleBytes("fifo", (_, m) => OnMulticast(Letter.Read(m.Span), ordered: false))
            .HandleBytes("ordered", (_, m) => OnMulticast(Letter.Read(m.Span), ordered: true))
            .HandleBytes("empty", (_, m) => OnEmpty(m.Length))
            .Handle<byte[]>("peer", (_, m) => OnPeer(Letter.Read(m)))
            .Handle<byte[]>("hook", (from, m) => OnHookMessage(from, BinaryPrimitives.ReadUInt64LittleEndian(m), BinaryPrimitives.ReadUInt64LittleEndian(m.AsSpan(8)), isAnswer: m.Length > HookMessage))
            .OnQuery<byte[], byte[]>("ask", (_, m) => Asked(Letter.Read(m)))
            .OnError(OnError);
        // Registered before the other handlers of the same event.
        if (_habits.LeavesThread) g.OnView(_ => LeaveThreadOtherwise());
        if (_habits.LeavesThread && _habits.Hook != HookHabit.None) g.OnViewProposed((_, context) => LeaveThreadAndEnd(context));
        g.OnView(OnView);
        if (_habits.Odd) g.Handle<int>("odd", static (_, _) => { });
        if (_habits.ViewThrows) g.OnView(static _ => throw new FormatException("A view handler that throws."));
        if (!Shared.Inline)
        {
            g.HandleAsync<byte[]>("later", async (_, m) => await OnMulticastAsync(Letter.Read(m)).ConfigureAwait(false))
                .HandleAsync<byte[]>("peer later", async (_, m) => await OnPeerAsync(Letter.Read(m)).ConfigureAwait(false))
                .OnQueryAsync<byte[], byte[]>("ask later", async (_, m) => await AnswerAsync(Letter.Read(m)).ConfigureAwait(false));
        }
        if (_habits.Hook is HookHabit.Awaits or HookHabit.AwaitsAndThrows) g.OnViewProposedAsync(async (_, context) => await OnProposedAsync(context).ConfigureAwait(false));
        else if (_habits.Hook != HookHabit.None) g.OnViewProposed(OnProposed);
        if (!Shared.HasState) return;
        if (Shared.BySnapshot) g.CheckpointSnapshot(Snapshot, Load);
        else g.Checkpoint(to => Snapshot()(to), Load);
    }

    /// <summary>Nothing more of it is judged: its process crashed or was excluded, or its join was undone.</summary>
    public void End()
    {
        if (HasEnded) return;
        // If its process crashes, or its join is undone, handlers that are behind may still have their turn.
        if (Group is { Completion.IsFaulted: true } && Life.Alive) _end.Excluded();
        else _end.Crashed();
        _judged?.All.Crashed(Id);
        _judged?.Nested.Crashed(Id);
    }

    /// <summary>Tells the checkers that everything sent so far has gone out, if no call waits.</summary>
    public void NoteSent()
    {
        if (!IsUsable || Group!.Protocol is not { Backlog.Calls: 0, View: { } view }) return;
        All.HasSent(Id, view.Id);
        Nested.HasSent(Id, view.Id);
    }

    public void EndIfOf(SimNode life)
    {
        if (life == Life) End();
    }

    /// <summary>It has left and was told so.</summary>
    public void HasLeft()
    {
        if (HasEnded) return;
        _end.Left();
        _judged?.All.Left(Id);
        _judged?.Nested.Crashed(Id);
    }

    /// <summary>Whether what a handler is called for counts. None may begin after the end, or while another one is at work.</summary>
    private bool Acts(string what)
    {
        if (!HasEnded && _atWork is { } other) _surface.Fail($"At {Id} in {Shared.Name} {what} comes while the handler of {other} is at work.");
        if (!HasEnded) return true;
        if (_end.IsTooLate) _surface.Fail($"{Id} acts after its end in {Shared.Name}: {what} comes at {_surface.Simulation.Now}.");
        return false;
    }

    private void OnMulticast(Letter letter, bool ordered)
    {
        JudgeThread();
        if (!Acts("a message")) return;
        Delivered(letter.Id, ordered);
        if (letter.Deed == Deed.Throw && IsActor(letter)) LeaveThreadOtherwise();
        Act(letter);
    }

    private void JudgeThread()
    {
        if (ReferenceEquals(SynchronizationContext.Current, s_place) || ReferenceEquals(CultureInfo.CurrentCulture, s_culture)) _surface.Fail($"A handler of {Id} runs in what another has made of the thread.");
    }

    private void LeaveThreadAndEnd(TerminationContext context)
    {
        LeaveThreadOtherwise();
        context.Done();
    }

    private void LeaveThreadOtherwise()
    {
        _surface.Drawn.Draw(GroupNames.LeavesThread);
        SynchronizationContext.SetSynchronizationContext(s_place);
        CultureInfo.CurrentCulture = s_culture;
    }

    private void Delivered(ulong id, bool ordered)
    {
        _surface.OnExecuted(id);
        _handled.Add(id);
        All.Delivered(Id, id);
        if (ordered) _chain = (_chain * 31) + id;
        else _sum += id * 0x9E3779B97F4A7C15;
    }

    private async Task OnMulticastAsync(Letter letter)
    {
        if (!Acts("a message")) return;
        Delivered(letter.Id, ordered: GroupSurface.IsOrdered(letter.Id));
        if (!await WaitAndEndAsync(letter).ConfigureAwait(false)) Act(letter);
    }

    private void OnEmpty(int length)
    {
        if (length != 0) _surface.Fail($"A message of 0 bytes came with {length} at {Id}.");
        if (Acts("an empty message")) _sum++;
    }

    private void OnPeer(Letter letter)
    {
        if (!Acts("a message")) return;
        Received(letter);
        ActOnPeer(letter);
    }

    private void ActOnPeer(Letter letter)
    {
        HandlesPeer = true;
        try
        {
            Act(letter);
        }
        finally
        {
            HandlesPeer = false;
        }
    }

    private async Task OnPeerAsync(Letter letter)
    {
        if (!Acts("a message")) return;
        Received(letter);
        if (!await WaitAndEndAsync(letter).ConfigureAwait(false)) ActOnPeer(letter);
    }

    private void Received(Letter letter)
    {
        _surface.OnExecuted(letter.Id);
        (GroupSurface.IsNested(letter.Id) ? Nested : All).PeerReceived(Id, letter.Id);
        // If nobody failed, the view change waited for the handler's message, and so for what the handler sent.
        if (_surface.ViewOf(letter.Id) is { } view && View!.Id == view + 1 && View.Failed.Count == 0) _surface.Fail($"What a handler sent in view {view} is handled in view {View.Id} at {Id}.");
    }

    private void OnHookMessage(MemberRef from, ulong id, ulong view, bool isAnswer)
    {
        if (!Acts("a message of a hook")) return;
        if (View!.Id != view) _surface.Fail($"A hook's message of view {view} is handled in view {View.Id} at {Id}.");
        if (!_surface.TryTakeHookMessage(id, Id)) _surface.Fail($"A hook's message is handled twice at {Id}.");
        if (!isAnswer && id % 3 == 0) AnswerHook(from, view);
    }

    /// <summary>Handlers answer hooks in the view that ends, at members that leave too.</summary>
    private void AnswerHook(MemberRef to, ulong view)
    {
        if (Group is not { } group) return;
        _surface.Drawn.Draw(IsLeaving ? GroupNames.LeaverAnswersHook : GroupNames.AnswersHook);
        byte[] answer = new byte[HookMessage + 1];
        BinaryPrimitives.WriteUInt64LittleEndian(answer, _surface.NextId(ordered: false, nested: true));
        BinaryPrimitives.WriteUInt64LittleEndian(answer.AsSpan(8), view);
        _surface.Calls.Watch(CallKind.SendTo, "answer to a hook", this, SendAsync(group, to.Rank, answer), error => error is SendQueueFullException || group.Protocol.Over is not null || GroupCalls.IsOverAt(this, error));
    }

    // What is thrown at once counts as the call's error, too.
    private static async Task SendAsync(Group group, int rank, byte[] answer) => await group.SendToAsync(rank, "hook", answer).ConfigureAwait(false);

    /// <summary>Whether a message means this member.</summary>
    private bool IsActor(Letter letter) => View is { } view && letter.Deed != Deed.Nothing && letter.Actor % view.Members.Count == view.RankOf(Id);

    private async Task<bool> WaitAndEndAsync(Letter letter)
    {
        _atWork = $"message {letter.Id}";
        try
        {
            await WaitAsync(letter).ConfigureAwait(false);
            return await EndsAsync(letter).ConfigureAwait(false);
        }
        finally
        {
            _atWork = null;
        }
    }

    private async Task WaitAsync(Letter letter)
    {
        if (!IsActor(letter)) return;
        if (letter.Deed is Deed.Block or Deed.Relay) Work.Add(_surface.Simulation.Now, TimeSpan.FromMilliseconds(letter.Argument));
        if (letter.Deed == Deed.Stick) Work.Add(_surface.Simulation.Now, TimeSpan.MaxValue);
        if (letter.Deed is Deed.Block or Deed.Relay) await _surface.Simulation.Delay(TimeSpan.FromMilliseconds(letter.Argument)).ConfigureAwait(false);
        else if (letter.Deed == Deed.Stick) await StickAsync().ConfigureAwait(false);
    }

    /// <summary>Ends the membership and waits for that in the handler itself, if the message says so.</summary>
    private async Task<bool> EndsAsync(Letter letter)
    {
        if (!IsUsable || !IsActor(letter) || letter.Deed is not (Deed.Leave or Deed.Dispose) || letter.Argument == 0) return false;
        await _surface.Calls.EndFromHandlerAsync(this, letter.Deed == Deed.Dispose).ConfigureAwait(false);
        return true;
    }

    private async Task StickAsync()
    {
        IsStuck = true;
        await _surface.NeverAsync().ConfigureAwait(false);
        IsStuck = false;
    }

    private void Act(Letter letter)
    {
        if (HasEnded || Group is null || !IsActor(letter)) return;
        switch (letter.Deed)
        {
            case Deed.Throw:
                _surface.Drawn.Draw(GroupNames.Throws);
                throw new FormatException("A handler that throws.");
            case Deed.Block when letter.Argument > 0:
                Place.DelayWorker(TimeSpan.FromMilliseconds(letter.Argument));
                break;
            case Deed.Nothing or Deed.Block or Deed.Stick: break;
            default:
                _surface.Calls.FromHandler(this, letter);
                break;
        }
    }

    /// <summary>A question comes. It must come once to each member, in its place among the messages of its asker, and never if the asker was told that it was not sent.</summary>
    private void Question(Letter letter)
    {
        if (!Acts("a question")) return;
        _surface.OnExecuted(letter.Id);
        if (_surface.IsToOne(letter.Id)) All.PeerReceived(Id, letter.Id);
        else All.Delivered(Id, letter.Id);
        if (View is { } view && !_questions.TryAdd(letter.Id, view)) _surface.Fail($"Question {letter.Id} is handled twice at {Id}.");
    }

    private QueryAnswer<byte[]> Asked(Letter letter)
    {
        Question(letter);
        return Answer(letter);
    }

    private QueryAnswer<byte[]> Answer(Letter letter)
    {
        // Its chain no longer grows.
        if (HasEnded) return QueryAnswer<byte[]>.Null;
        if (IsActor(letter))
        {
            switch (letter.Deed)
            {
                case Deed.AnswerNull: return QueryAnswer<byte[]>.Null;
                case Deed.Abort: return QueryAnswer<byte[]>.Abort("aborted");
                case Deed.AnswerLarge: return new Letter(letter.Id).Write(letter.Argument);
                default:
                    Act(letter);
                    break;
            }
        }
        // The chain is what ordered queries must find alike.
        byte[] reply = new Letter(letter.Id).Write(Letter.Size + 8);
        BinaryPrimitives.WriteUInt64LittleEndian(reply.AsSpan(Letter.Size), _chain);
        return reply;
    }

    private async Task<QueryAnswer<byte[]>> AnswerAsync(Letter letter)
    {
        Question(letter);
        if (!HasEnded) await WaitAndEndAsync(letter).ConfigureAwait(false);
        return Answer(letter);
    }

    private void OnError(GroupError error)
    {
        if (!_habits.ErrorThrows) return;
        _surface.Drawn.Draw(GroupNames.ErrorThrows);
        throw new FormatException("An error handler that throws.");
    }

    private void OnView(View view)
    {
        JudgeThread();
        if (!Acts($"view {view.Id}")) return;
        if (_judged is null)
        {
            // The handlers of an earlier membership may still be behind.
            foreach (var earlier in Place.Seats)
                if (earlier != this && earlier.Shared == Shared && earlier.Id == Id) earlier.End();
            _judged = Shared.Of(view.Group);
            All.JoinsAgain(Id);
            Nested.JoinsAgain(Id);
        }
        bool joins = View is null && view.Id > 1;
        View = view;
        _views.Add(view);
        if (view.Failed.Count > 0) _surface.Drawn.Draw(GroupNames.Excluded);
        if (view.Joined.Count > 2) _surface.Drawn.Draw(GroupNames.OneView);
        // The first view it hears of is the one in which it got the state, though it may have been in others before.
        if (_loadedView == view.Id) All.CheckpointLoaded(Id, view.Id, Digest);
        else if (joins && !Shared.HasState) All.CheckpointLoaded(Id, view.Id);
        if (joins) Nested.CheckpointLoaded(Id, view.Id);
        All.ViewInstalled(Id, view, Shared.HasState ? Digest : null);
        Nested.ViewInstalled(Id, view);
    }

    private void OnProposed(Proposal proposal, TerminationContext context)
    {
        JudgeThread();
        if (HasEnded) return;
        // A hook that does not end is given up.
        if (_habits.Hook is not (HookHabit.Done or HookHabit.Throws)) Work.Add(_surface.Simulation.Now, s_hook);
        switch (_habits.Hook)
        {
            case HookHabit.Done:
                _surface.Drawn.Draw(GroupNames.Hook);
                context.Done();
                context.Done();
                break;
            case HookHabit.Late:
                _surface.Drawn.Draw(GroupNames.HookLate);
                _surface.Simulation.After(_habits.HookTime, context.Done);
                break;
            case HookHabit.Never:
                _surface.Drawn.Draw(GroupNames.HookNever);
                break;
            case HookHabit.Throws:
                _surface.Drawn.Draw(GroupNames.HookThrows);
                throw new FormatException("A hook that throws.");
            default:
                SendFromHook(context);
                if (_habits.Hook == HookHabit.Sends) _surface.Simulation.After(_habits.HookTime / 4, context.Done);
                else
                {
                    context.Done();
                    _surface.Drawn.Draw(GroupNames.HookBeside);
                    SendFromHook(context);
                }
                break;
        }
    }

    private async Task OnProposedAsync(TerminationContext context)
    {
        if (HasEnded) return;
        Work.Add(_surface.Simulation.Now, s_hook);
        _surface.Drawn.Draw(GroupNames.HookAwaits);
        await Task.WhenAll(SendFromHook(context)).ConfigureAwait(false);
        await _surface.Simulation.Delay(_habits.HookTime / 4).ConfigureAwait(false);
        if (_habits.Hook != HookHabit.AwaitsAndThrows) return;
        _surface.Drawn.Draw(GroupNames.HookAwaitsAndThrows);
        throw new FormatException("A hook that throws behind its first await.");
    }

    private List<Task> SendFromHook(TerminationContext context)
    {
        _surface.Drawn.Draw(GroupNames.HookSends);
        List<Task> all = [];
        foreach (var survivor in context.Survivors)
        {
            if (!context.View.Members[context.View.RankOf(survivor)].Initialised)
            {
                if (!_surface.Drawn.Allows(GroupNames.HookToJoiner)) continue;
                _surface.Drawn.Draw(GroupNames.HookToJoiner);
            }
            byte[] message = new byte[HookMessage];
            BinaryPrimitives.WriteUInt64LittleEndian(message, _surface.NextId(ordered: false, nested: true));
            BinaryPrimitives.WriteUInt64LittleEndian(message.AsSpan(8), context.View.Id);
            var sent = context.SendAsync(context.View.RankOf(survivor), "hook", message).AsTask();
            _surface.Calls.Watch(CallKind.SendTo, "of a hook", this, sent, error => GroupCalls.IsOverAt(this, error));
            all.Add(sent);
        }
        return all;
    }

    private Action<IBufferWriter<byte>> Snapshot()
    {
        // Taken before the view event, so it belongs to the next view.
        var (view, sum, chain) = ((View?.Id ?? 0) + 1, _sum, _chain);
        return to =>
        {
            if (_habits.SaveThrows && !_surface.IsOver)
            {
                _surface.Drawn.Draw(GroupNames.SaveThrows);
                throw new FormatException("A state that cannot be saved.");
            }
            var span = to.GetSpan(24);
            BinaryPrimitives.WriteUInt64LittleEndian(span, view);
            BinaryPrimitives.WriteUInt64LittleEndian(span[8..], sum);
            BinaryPrimitives.WriteUInt64LittleEndian(span[16..], chain);
            to.Advance(24);
            for (int left = Shared.StateBytes; left > 0; left -= 8_192)
            {
                to.GetSpan(8_192)[..8_192].Clear();
                to.Advance(8_192);
            }
        };
    }

    private void Load(ReadOnlyMemory<byte> state)
    {
        if (HasEnded) return;
        if (_habits.LoadThrows)
        {
            _surface.Drawn.Draw(GroupNames.LoadThrows);
            throw new FormatException("A state that cannot be loaded.");
        }
        _loadedView = BinaryPrimitives.ReadUInt64LittleEndian(state.Span);
        _sum = BinaryPrimitives.ReadUInt64LittleEndian(state.Span[8..]);
        _chain = BinaryPrimitives.ReadUInt64LittleEndian(state.Span[16..]);
    }
}
