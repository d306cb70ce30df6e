using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.Views;
using GroupCore.Runtime;
using GroupCore.Transport;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// <c>Dispatcher</c> and <c>MessageSlab</c> on a loop: events that come in several turns, handlers that go on elsewhere, calls that wait for their handler; the group may drop what
/// waits, and the node stops at the end or at any time.
/// </summary>
internal sealed class DispatcherScenario : Scenario
{
    private const int Turns = 4, Most = 3;
    private const string Elsewhere = "a handler goes on elsewhere", Dropped = "what waits is dropped";

    public override string Name => "dispatcher";

    public override string Rule => "events are handled in order, one at a time, and all of them; what waits for one ends once; their slabs are given back, and the loop hears of each behind what its handler posted";

    protected override IEnumerable<string> Own => [Elsewhere, Dropped, Slabs.Again];

    public override Action Begin(Schedule schedule)
    {
        bool stops = schedule.Draw(3) == 0;
        var calls = new List<Waiting>();
        Target? target = null;
        var slabs = new Slabs(schedule);
        int added = 0;
        bool stopping = false;
        schedule.Start("main", () =>
        {
            GroupProtocol? group = null;
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
                // Held by its events alone from now on.
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

    /// <summary>Awaits one call.</summary>
    private sealed class Waiting
    {
        /// <param name="schedule">Fails with a call that ends otherwise.</param>
        /// <param name="call">Is awaited.</param>
        /// <param name="may">What it may end with just now.</param>
        public Waiting(Schedule schedule, ValueTask call, Func<Exception, bool> may)
        {
            var awaiter = call.GetAwaiter();
            awaiter.UnsafeOnCompleted(() =>
            {
                if (++Ends > 1) schedule.Fail("A call ended twice");
                try
                {
                    awaiter.GetResult();
                }
                catch (Exception error)
                {
                    Check.That(schedule, may(error), $"A call ended with {error}");
                }
            });
        }

        public int Ends { get; private set; }
    }

    /// <summary>The handlers.</summary>
    private sealed class Target : IEventTarget, ITurnParticipant, IStopListener
    {
        private readonly Schedule _schedule;
        private readonly Dispatcher _dispatcher;
        private readonly Exclusive _handlers = new("the handlers");
        private readonly INode _node;
        private readonly Slabs _slabs;
        private readonly HashSet<ulong> _open = [];
        private ulong _handled;
        private ulong _told;
        private ulong _number;
        private bool _dropped;

        public Target(Schedule schedule, INode node, Slabs slabs)
        {
            (_schedule, _node, _slabs) = (schedule, node, slabs);
            _dispatcher = new(node, this, inline: false);
        }

        public ExecutionContext Context { get; } = ExecutionContext.Capture()!;

        public Exception? Skipped => null;

        /// <summary>No handler is to be called any more.</summary>
        public bool Drops { get; private set; }

        /// <summary>What is not handled, as the loop knows at the end of its turn; −1 within one that adds to it.</summary>
        public long Backlog { get; private set; }

        public void Add(GroupEvent entry)
        {
            entry.Number = ++_number;
            Backlog = -1;
            _slabs.Add(entry);
            _dispatcher.Add(entry);
        }

        public void Drop()
        {
            if (Drops) return;
            Reached.At(Dropped, _handled != _number);
            Drops = true;
            _dispatcher.Drop(new InvalidDataException("dropped"));
            _dropped = true;
        }

        /// <summary>Before a slab is given up.</summary>
        public void TakeHolds() => _dispatcher.TakeHolds();

        public void EndOfTurn()
        {
            _dispatcher.Publish();
            Backlog = _dispatcher.Backlog;
        }

        public void OnStop(Exception reason) => _dispatcher.Abandon(reason);

        public object? Enter() => null;

        public void Exit(object? outer)
        {
        }

        public ValueTask Handle(ref GroupEvent entry)
        {
            using var one = _handlers.Enter($"event {entry.Number}");
            if (entry.Number <= _handled) _schedule.Fail($"Event {entry.Number} was handled behind {_handled}");
            if (!_dropped && entry.Number != _handled + 1) _schedule.Fail($"Event {entry.Number} was handled next to {_handled}");
            _handled = entry.Number;
            if (_schedule.Draw(2) == 0) Post(entry.Number);
            _slabs.Remove(entry);
            if (_schedule.Draw(3) != 0) return default;
            Reached.At(Elsewhere);
            var later = new TaskCompletionSource();
            _schedule.Start($"handler{entry.Number}", later.SetResult);
            return new(later.Task);
        }

        /// <summary>Whether all events count as handled for the other members; those that were dropped need not.</summary>
        public bool IsTold => _told == _number || Drops;

        public bool OnHandled(long events)
        {
            foreach (ulong number in _open)
                if (number <= (ulong)events) _schedule.Fail($"Event {events} counts as handled, and what the handler of {number} posted has not run");
            _told = (ulong)events;
            return _told < _number;
        }

        private void Post(ulong number)
        {
            _open.Add(number);
            _node.Post(new CallCommand(() => _open.Remove(number)));
        }

        public void OnDropped(in GroupEvent entry) => _slabs.Remove(entry);

        public void OnProgress()
        {
        }
    }
}
