using GroupCore.Groups.Calls;
using GroupCore.Hosting;
using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary><c>SendOperation</c> and its pool on a loop: calls with tokens that fire, which go out at once or later, or end on the worker of the handlers.</summary>
internal sealed class SendsScenario : Scenario
{
    private const int Callers = 2, Most = 3;
    private const string Cancelled = "cancelled", Untaken = "its result is not taken", Stopped = "stopped";

    public override string Name => "sends";

    public override string Rule => "each call ends once, by its own token or as it should; none serves another caller before its result is taken, and none leaves a token behind";

    protected override IEnumerable<string> Own => [Cancelled, Untaken, Stopped];

    public override Action Begin(Schedule schedule)
    {
        var held = new HashSet<SendOperation>();
        var tokens = new List<TokenSeam>();
        bool stops = schedule.Draw(3) == 0;
        int driving = Callers;
        schedule.Start("main", () =>
        {
            CallTaker? group = null;
            var loop = NodeLoop.Start(new() { Cluster = "c", CommandCapacity = 16, Spin = TimeSpan.Zero }, node => group = new(node));
            loop.Faulted += error => schedule.Fail($"The loop met a fault: {error}");
            group!.Taken = call => Check.That(schedule, held.Contains(call) && call.Payload.Written[0] == call.Handler, "The loop has a call that is not its caller's any more");
            for (int caller = 0; caller < Callers; caller++)
            {
                uint own = (uint)caller;
                schedule.Start($"caller{own}", () =>
                {
                    for (int i = schedule.Draw(Most); i >= 0; i--) One(loop, group, own * 10 + (uint)i);
                    driving--;
                });
            }
            if (!stops) Explored.Wait(() => driving == 0, what: "all calls");
            var ended = loop.StopAsync();
            Explored.Wait(() => ended.IsCompleted, what: "the end");
        });
        return () =>
        {
            Check.Equal(schedule, 0, driving, "Callers that still call");
            foreach (var token in tokens) Check.Equal(schedule, 0, token.Registered, "Registrations of a token");
        };

        void One(NodeLoop loop, CallTaker group, uint number)
        {
            var call = SendOperation.Rent(group, MessageKind.None, number);
            if (!held.Add(call)) schedule.Fail("A call serves two callers");
            var source = schedule.Draw(3) != 0 ? new TokenSeam() : null;
            if (source is not null)
            {
                tokens.Add(source);
                // Other tokens never fire.
                if (schedule.Draw(3) != 0) schedule.Start($"token{number}", source.Cancel);
            }
            call.Payload.GetSpan(1)[0] = (byte)number;
            call.Payload.Advance(1);
            var done = call.Task;
            call.CancelBy(source?.Token ?? default);
            if (!loop.Node.TryPost(call))
            {
                held.Remove(call);
                call.Recycle();
                Check.That(schedule, stops, "It was not taken");
                return;
            }
            bool ended = false;
            Explored.Wait(() => ended || (ended = done.IsCompleted), what: $"call {number}");
            if (schedule.Draw(8) == 0)
            {
                Reached.At(Untaken);
                return;
            }
            held.Remove(call);
            try
            {
                done.GetAwaiter().GetResult();
            }
            catch (OperationCanceledException error)
            {
                Reached.At(Cancelled);
                Check.That(schedule, source is not null && error.CancellationToken == source.Token && source.Token.IsCancellationRequested, $"Call {number} was cancelled by no token of its own");
            }
            catch (NodeStoppedException)
            {
                Reached.At(Stopped);
                Check.That(schedule, stops, $"Call {number} met a stop");
            }
        }
    }
}
