using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport.Mesh;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// A whole loop: its two threads, callers, frames that come in, timers, completions that take long or wait for a later call. It stops at the end, at any time,
/// or by a turn that throws.
/// </summary>
internal sealed class TurnsScenario(string name, TurnsEnd end) : Scenario
{
    private const int Callers = 2, Most = 3, MostSteps = 12;
    private const string Stops = "a completion stops the node";
    private static readonly int[] s_capacities = [2, 16];

    public override string Name => name;

    public override string Rule => end == TurnsEnd.AtLast
        ? "one thread at a time is in a turn; each call runs once, in its caller's order, and ends once; what is sent leaves; nobody sleeps while there is something to do"
        : "one thread at a time is in a turn; each call ends once, though the node stops at any time; the threads end";

    protected override IEnumerable<string> Own => end switch
    {
        TurnsEnd.AtAnyTime => [Stops, TcpMesh.Undrained],
        TurnsEnd.ByFault => [TcpMesh.HasThrown],
        _ => [TcpMesh.Undrained],
    };

    public override Action Begin(Schedule schedule)
    {
        NodeLoop? loop = null;
        TcpMesh? mesh = null;
        var calls = new List<Call>();
        var keeper = new Keeper(schedule, calls);
        schedule.Start("main", () =>
        {
            loop = NodeLoop.Start(new()
            {
                Cluster = "c",
                Port = schedule.Draw(2) == 0 ? SocketPortKind.Auto : SocketPortKind.Completion,
                Spin = TimeSpan.FromMicroseconds(50 * schedule.Draw(2)),
                CommandCapacity = s_capacities[schedule.Draw(2)],
            });
            loop.Faulted += error => Check.That(schedule, end == TurnsEnd.ByFault && IsOnPurpose(error), $"The loop met a fault: {error}");
            mesh = TcpMesh.Latest;
            if (end == TurnsEnd.ByFault && schedule.Draw(4) == 0) mesh.StepsToFault = 1 + schedule.Draw(MostSteps);
            for (int caller = 0; caller < Callers; caller++)
            {
                int own = caller;
                var mine = Enumerable.Range(0, 1 + schedule.Draw(Most)).Select(i => Make(schedule, loop, mesh, own, i, calls, keeper)).ToArray();
                calls.AddRange(mine);
                foreach (var call in mine) mesh.Node.AtStop(call);
                schedule.Start($"caller{own}", () => Drive(schedule, loop, mine));
            }
            if (schedule.Draw(2) == 0) schedule.Start("wire", () => mesh.Arrive(mesh.Send));
            if (end != TurnsEnd.AtAnyTime)
            {
                Explored.Wait(() => calls.TrueForAll(static call => call.Ends > 0), what: "all calls");
                if (end == TurnsEnd.AtLast) Explored.Wait(() => mesh.Unsent == 0 && !mesh.HasNews, what: "all frames");
            }
            else if (schedule.Draw(2) == 0)
            {
                Explored.Wait(() => calls.Exists(static call => call.Ends > 0), what: "a call");
            }
            var ended = loop.StopAsync();
            Explored.Wait(() => ended.IsCompleted, what: "the end");
            Check.That(schedule, mesh.IsDisposed, "Its sockets are open at its end");
        });
        return () =>
        {
            Check.Equal(schedule, 0, LibCSeam.OpenIn(schedule), "Descriptors that are not closed");
            if (mesh!.Throws) Check.That(schedule, loop!.Fault is not null, "The fault of the sockets was not told");
            foreach (var call in calls)
            {
                Check.Equal(schedule, 1, call.Ends, $"The number of ends of command {call.Caller}.{call.Number}");
                if (end == TurnsEnd.AtLast && !call.IsRefused) Check.Equal(schedule, 1, call.Runs, $"The number of runs of command {call.Caller}.{call.Number}");
                if (end == TurnsEnd.ByFault && call.Throws && call.Runs > 0) Check.That(schedule, loop!.Fault is not null && call.Error is NodeFaultedException, "The fault was not told");
            }
        };
    }

    private Call Make(Schedule schedule, NodeLoop loop, TcpMesh mesh, int caller, int number, List<Call> calls, Keeper keeper) => new(mesh, caller, number)
    {
        WantsTurn = schedule.Draw(2) == 0,
        Kept = schedule.Draw(2) == 0,
        Sends = schedule.Draw(2) == 0,
        EndsLink = schedule.Draw(6) == 0,
        Throws = end == TurnsEnd.ByFault && schedule.Draw(6) == 0,
        After = schedule.Draw(4) == 0 ? 1_000 * (1 + schedule.Draw(100)) : 0,
        OnRun = call =>
        {
            keeper.OnRun();
            OnRun(schedule, call, calls);
        },
        Then = schedule.Draw(6) switch
        {
            0 => () => schedule.Now += 200_000,
            1 => () => WaitForLater(schedule, calls, caller),
            2 => () => PostMore(schedule, mesh, caller, number, calls, keeper),
            3 => () => keeper.KeepForAWhile(mesh, caller, number),
            4 when end == TurnsEnd.AtAnyTime => () => StopFrom(loop),
            _ => null,
        },
    };

    private static bool IsOnPurpose(Exception error) => error is AggregateException all ? all.InnerExceptions.All(IsOnPurpose) : error is InvalidDataException { Message: "on purpose" };

    private static void StopFrom(NodeLoop loop)
    {
        Reached.At(Stops, !loop.Ended.IsCompleted);
        _ = loop.StopAsync();
    }

    // In its caller's order.
    private static void OnRun(Schedule schedule, Call call, List<Call> calls)
    {
        foreach (var other in calls)
            if (other.Caller == call.Caller && other.Number > call.Number && other.Runs > 0) schedule.Fail($"Command {call.Caller}.{call.Number} ran behind a later one of its caller");
    }

    // What a caller's continuation calls next.
    private static void PostMore(Schedule schedule, TcpMesh mesh, int caller, int number, List<Call> calls, Keeper keeper)
    {
        var more = new Call(mesh, Callers + caller, number) { WantsTurn = schedule.Draw(2) == 0, Kept = schedule.Draw(2) == 0, Sends = schedule.Draw(2) == 0, OnRun = _ => keeper.OnRun() };
        calls.Add(more);
        if (!mesh.Node.TryPost(more)) more.Refuse();
    }

    // A completion that blocks until the next caller's first call has run or has ended, which may be the completion behind this one.
    private static void WaitForLater(Schedule schedule, List<Call> calls, int caller)
    {
        bool run = schedule.Draw(2) == 0;
        Explored.Wait(() => calls.Find(other => other.Caller == caller + 1 && other.Number == 0) is not { } awaited || awaited.Ends > 0 || (run && awaited.Runs > 0), what: "blocks");
    }

    private static void Drive(Schedule schedule, NodeLoop loop, Call[] calls)
    {
        foreach (var call in calls)
        {
            if (schedule.Draw(2) == 0)
            {
                if (!loop.Node.TryPost(call)) PostWithWait(schedule, loop, call);
            }
            else
            {
                PostWithWait(schedule, loop, call);
            }
            if (schedule.Draw(2) == 0) Explored.Wait(() => call.Ends > 0, what: $"call {call.Caller}.{call.Number}");
        }
    }

    private static void PostWithWait(Schedule schedule, NodeLoop loop, Call call)
    {
        var posted = loop.Node.PostAsync(call);
        bool awaits = schedule.Draw(2) == 0;
        if (!posted.IsCompleted && !awaits)
        {
            _ = posted.AsTask().ContinueWith(task => OnPosted(task, call), TaskContinuationOptions.ExecuteSynchronously);
            return;
        }
        Explored.Wait(() => posted.IsCompleted, what: $"room for {call.Caller}.{call.Number}");
        OnPosted(posted.AsTask(), call);
    }

    private static void OnPosted(Task posted, Call call)
    {
        if (posted.IsFaulted) call.Refuse();
    }
}
