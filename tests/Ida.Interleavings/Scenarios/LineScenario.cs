using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary><c>CommandLine</c> and <c>CommandWaiter</c>: callers at a queue that is full, with tokens that fire, and a node that may stop meanwhile.</summary>
internal sealed class LineScenario : Scenario
{
    private const int Callers = 2, Each = 4;

    public override string Name => "line";

    public override string Rule => "each command runs, is abandoned or is refused, one of them and once; those of one caller run in its order, awaited or not; every call ends";

    public override Action Begin(Schedule schedule)
    {
        var calls = new List<Call>();
        var tokens = new List<TokenSeam>();
        schedule.Start("main", () =>
        {
            var host = new LoneHost(schedule, capacity: 2);
            int driving = Callers;
            bool stops = schedule.Draw(2) == 0;
            for (int caller = 0; caller < Callers; caller++)
            {
                int own = caller;
                var mine = Enumerable.Range(0, Each).Select(i => new Call(host.Mesh, own, i) { OnRun = call => InOrder(schedule, call, calls) }).ToArray();
                calls.AddRange(mine);
                var source = schedule.Draw(2) == 0 ? new TokenSeam() : null;
                if (source is not null)
                {
                    tokens.Add(source);
                    // Other tokens never fire.
                    if (schedule.Draw(3) != 0) schedule.Start($"token{own}", source.Cancel);
                }
                schedule.Start($"caller{own}", () =>
                {
                    Drive(schedule, host, mine, source);
                    driving--;
                });
            }
            schedule.Start("loop", host.Run);
            if (!stops) Explored.Wait(() => driving == 0 && calls.TrueForAll(static call => call.Ends > 0), what: "all calls");
            else if (schedule.Draw(2) == 0) Explored.Wait(() => calls.Exists(static call => call.Ends > 0), what: "a call");
            host.Stop();
        });
        return () =>
        {
            foreach (var token in tokens) Check.Equal(schedule, 0, token.Registered, "Registrations of a token");
            foreach (var call in calls) Check.Equal(schedule, 1, call.Ends, $"The number of ends of command {call.Caller}.{call.Number}");
        };
    }

    private static void InOrder(Schedule schedule, Call call, List<Call> calls)
    {
        foreach (var other in calls)
            if (other.Caller == call.Caller && other.Number > call.Number && other.Runs > 0) schedule.Fail($"Command {call.Caller}.{call.Number} ran behind a later one of its caller");
    }

    private static void Drive(Schedule schedule, LoneHost host, Call[] calls, TokenSeam? source)
    {
        var open = new List<Task>();
        foreach (var call in calls)
        {
            // A call that only tries to post keeps its caller's order as well.
            if (schedule.Draw(3) == 0 && host.Node.TryPost(call)) continue;
            var posted = host.Node.PostAsync(call, schedule.Draw(2) == 0 && source is not null ? source.Token : default);
            var ended = posted.AsTask().ContinueWith(task =>
            {
                if (!task.IsCompletedSuccessfully) call.Refuse();
            }, TaskContinuationOptions.ExecuteSynchronously);
            open.Add(ended);
            if (schedule.Draw(2) == 0) Explored.Wait(() => ended.IsCompleted, what: $"room for {call.Caller}.{call.Number}");
        }
        Explored.Wait(() => open.TrueForAll(static one => one.IsCompleted), what: "all posted");
    }
}
