using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>Calls that make no sense. Each must be refused at once with the exception that its page names.</summary>
internal static class GroupMisuse
{
    // One byte more than a message may have.
    private static readonly byte[] s_tooLarge = new byte[(64 << 20) + 1];

    public static void Draw(GroupSeat seat, Prng random, Ingredients drawn, CallTable table)
    {
        var (group, node) = (seat.Group!, seat.Place.Member.Node);
        switch (random.Next(9))
        {
            case 0:
                drawn.Draw(GroupNames.WrongHandler);
                foreach (var (kind, call) in Calls(group)) Ends<HandlerNotRegisteredException>(table, kind, () => call("nobody"));
                foreach (var (kind, call) in Calls(group)) Ends<ArgumentNullException>(table, kind, () => call(null!));
                break;
            case 1:
                drawn.Draw(GroupNames.WrongType);
                // Each handler takes bytes; and a handler of messages must refuse queries.
                foreach (var (kind, call) in Calls(group)) Ends<WrongHandlerTypeException>(table, kind, () => call(kind is CallKind.Query or CallKind.OrderedQuery or CallKind.QueryTo ? "ask" : "fifo"));
                Ends<WrongHandlerTypeException>(table, CallKind.OrderedQuery, () => group.OrderedQueryAsync<byte[], int>("ask", []).AsTask());
                Ends<WrongHandlerTypeException>(table, CallKind.SendTo, () => group.SendToAsync<byte[]>(0, "ask", []).AsTask());
                break;
            case 2:
                drawn.Draw(GroupNames.WrongRank);
                Ends<ArgumentOutOfRangeException>(table, CallKind.SendTo, () => group.SendToAsync<byte[]>(-1, "peer", []).AsTask());
                Ends<ArgumentOutOfRangeException>(table, CallKind.QueryTo, () => group.QueryToAsync<byte[], byte[]>(group.CurrentView.Members.Count, "ask", []).AsTask());
                break;
            case 3:
                drawn.Draw(GroupNames.WrongTimeout);
                Ends<ArgumentOutOfRangeException>(table, CallKind.Query, () => group.QueryAsync<byte[], byte[]>("ask", [], timeout: TimeSpan.Zero).AsTask());
                Ends<ArgumentOutOfRangeException>(table, CallKind.QueryTo, () => group.QueryToAsync<byte[], byte[]>(0, "ask", [], TimeSpan.FromSeconds(-3)).AsTask());
                break;
            case 4 when random.Chance(0.2):
                drawn.Draw(GroupNames.TooLarge);
                Ends<MessageTooLargeException>(table, CallKind.Send, () => group.SendAsync("fifo", new ReadOnlyMemory<byte>(s_tooLarge)).AsTask());
                Ends<MessageTooLargeException>(table, CallKind.OrderedSend, () => group.OrderedSendAsync("ordered", new ReadOnlyMemory<byte>(s_tooLarge)).AsTask());
                Ends<MessageTooLargeException>(table, CallKind.Query, () => group.QueryAsync<byte[], byte[]>("ask", s_tooLarge).AsTask());
                Ends<MessageTooLargeException>(table, CallKind.OrderedQuery, () => group.OrderedQueryAsync<byte[], byte[]>("ask", s_tooLarge).AsTask());
                Ends<MessageTooLargeException>(table, CallKind.QueryTo, () => group.QueryToAsync<byte[], byte[]>(0, "ask", s_tooLarge).AsTask());
                break;
            case 4:
                drawn.Draw(GroupNames.WrongReplies);
                Expect.Throws<ArgumentOutOfRangeException>(() => Replies.AtLeast(0));
                break;
            case 5:
                drawn.Draw(GroupNames.WrongName);
                Ends<ArgumentException>(table, CallKind.Join, () => node.JoinAsync(" ").AsTask());
                Ends<ArgumentException>(table, CallKind.Join, () => node.JoinAsync(new string('n', 129)).AsTask());
                Ends<ArgumentException>(table, CallKind.Join, () => node.JoinAsync(new string('é', 65)).AsTask());
                break;
            case 6:
                drawn.Draw(GroupNames.WrongOptions);
                Ends<ArgumentException>(table, CallKind.Join, () => node.JoinAsync("wrong", null, new() { SlowMemberTimeout = TimeSpan.Zero }).AsTask());
                Ends<ArgumentException>(table, CallKind.Join, () => node.JoinAsync("wrong", null, new() { SlowMemberTimeout = TimeSpan.FromHours(2) }).AsTask());
                break;
            case 7:
                drawn.Draw(GroupNames.WrongBuilder);
                Ends<ArgumentException>(table, CallKind.Join, () => node.JoinAsync("wrong", static g => g.Handle<int>("x", static (_, _) => { }).Handle<int>("x", static (_, _) => { })).AsTask());
                Ends<ArgumentException>(table, CallKind.Join, () => node.JoinAsync("wrong", static g => g.Inline().HandleAsync<int>("x", static (_, _) => default)).AsTask());
                Ends<ArgumentException>(table, CallKind.Join, () => node.JoinAsync("wrong", static g => g.Handle<int>("", static (_, _) => { })).AsTask());
                Ends<ArgumentNullException>(table, CallKind.Join, () => node.JoinAsync("wrong", static g => g.Handle<int>("x", null!)).AsTask());
                break;
            default:
                drawn.Draw(GroupNames.BuilderThrows);
                Passes(table, node, new FormatException("Code that configures throws."));
                break;
        }
    }

    /// <summary>Each call that names a handler, with a message of a type that no handler here takes.</summary>
    private static (CallKind Kind, Func<string, Task> Call)[] Calls(Group group) =>
    [
        (CallKind.Send, handler => group.SendAsync(handler, 1).AsTask()), (CallKind.OrderedSend, handler => group.OrderedSendAsync(handler, 1).AsTask()),
        (CallKind.SendTo, handler => group.SendToAsync(0, handler, 1).AsTask()), (CallKind.Query, handler => group.QueryAsync<int, int>(handler, 1).AsTask()),
        (CallKind.OrderedQuery, handler => group.OrderedQueryAsync<int, int>(handler, 1).AsTask()), (CallKind.QueryTo, handler => group.QueryToAsync<int, int>(0, handler, 1).AsTask()),
    ];

    /// <summary>Whether the last call may wait for room at its node: then a caller that takes its result too early is blocked.</summary>
    public static bool MayBlock(GroupSeat seat) => ((Node)seat.Place.Member.Host.Node).CommandsWaiting > 0;

    /// <summary>Two slips: to block on a call instead of awaiting it, and to take its result again. Both must be refused, and no call may be harmed.</summary>
#pragma warning disable CA2012 // The misuse is what is drawn.
    public static async Task TakeAsync(ValueTask call, Ingredients drawn)
    {
        drawn.Draw(GroupNames.TakenTooEarly);
        Expect.Throws<InvalidOperationException>(() => call.GetAwaiter().GetResult());
        try
        {
            await call;
        }
        finally
        {
            Expect.Throws<InvalidOperationException>(() => call.GetAwaiter().GetResult());
        }
    }
#pragma warning restore CA2012

    // A join passes on what the code that configures it throws, whatever that is.
    private static void Passes(CallTable table, IdaNode node, Exception thrown)
    {
        if (Expect.Throws<Exception>(() => Ended(() => node.JoinAsync("wrong", _ => throw thrown).AsTask())) != thrown) throw new ScenarioFailedException("A join does not pass on what the code that configures it throws.");
        table.Add(CallKind.Join, "refused: what configures it threw");
    }

    private static void Ends<T>(CallTable table, CallKind kind, Func<Task> misuse) where T : Exception => Expect.Refuses<T>(table, kind, () => Ended(misuse));

    /// <summary>Demands that a misuse ends at once.</summary>
    public static void Ended(Func<Task> misuse)
    {
        var task = misuse();
        if (!task.IsCompleted) throw new ScenarioFailedException("A misuse that must be refused at once waits.");
        task.GetAwaiter().GetResult();
    }
}
