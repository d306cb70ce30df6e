using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport.Mesh;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// <c>Dispatcher</c> and <c>MessageSlab</c> on a loop: events that come in several turns, handlers that go on elsewhere, calls that wait for their handler; the group may drop what
/// waits, and the node stops at the end or at any time.
/// </summary>
internal sealed class DispatcherScenario : Scenario
{
    private const int Turns = 4, Most = 3;

    public override string Name => "dispatcher";

    public override string Rule => "events are handled in order, one at a time, and all of them; what waits for one ends once; their slabs are given back, and the loop hears of each behind what its handler posted";

    protected override IEnumerable<string> Own => [EventTarget.Elsewhere, EventTarget.Dropped, Slabs.Again];

    public override Action Begin(Schedule schedule)
    {
        bool stops = schedule.Draw(3) == 0;
        var calls = new List<AwaitedCall>();
        EventTarget? target = null;
        var slabs = new Slabs(schedule);
        int added = 0;
        bool stopping = false;
        schedule.Start("main", () =>
        {
            CallTaker? group = null;
            var loop = NodeLoop.Start(new() { Cluster = "c", CommandCapacity = 16, Spin = TimeSpan.Zero }, node =>
            {
                group = new(node);
                target = new(schedule, node, slabs);
                node.AtEndOfTurn(target);
                node.AtStop(target);
            });
            loop.Faulted += error => schedule.Fail($"The loop met a fault: {error}");
            slabs.Rent();
            int turns = 1 + schedule.Draw(Turns);
            schedule.Start("wire", () =>
            {
                for (int i = 0; i < turns; i++) TcpMesh.Latest.Arrive(Add);
            });
            if (!stops) Explored.Wait(() => added == turns && target!.Backlog == 0 && target.IsTold && calls.TrueForAll(static call => call.Ends > 0), what: "all events");
            stopping = true;
            var ended = loop.StopAsync();
            Explored.Wait(() => ended.IsCompleted, what: "the end");

            void Add()
            {
                added++;
                // From now on only its events hold the slab.
                if (schedule.Draw(2) == 0)
                {
                    target!.TakeHolds();
                    slabs.GiveUp();
                    slabs.Rent();
                }
                for (int i = schedule.Draw(Most); i >= 0; i--)
                {
                    SendOperation? call = null;
                    if (schedule.Draw(2) == 0)
                    {
                        call = SendOperation.Rent(group!, MessageKind.Ordered, 0);
                        calls.Add(new(schedule, call.Task, error => error is NodeStoppedException ? stopping : error is InvalidDataException && target!.Drops));
                    }
                    target!.Add(new() { Kind = EventKind.Message, Slab = slabs.Current, Target = call });
                }
                if (schedule.Draw(6) == 0) target!.Drop();
            }
        });
        return () =>
        {
            foreach (var call in calls) Check.Equal(schedule, 1, call.Ends, "The number of ends of a call");
            if (!stops) slabs.Look();
        };
    }
}
