using System.Runtime.CompilerServices;
using GroupCore.Hosting;
using GroupCore.Runtime;
using Ida.Coordination;
using Ida.Interleavings.Scheduling;
using Ida.Kinds;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// <c>ClientOperation</c> and its pool on a loop: calls with tokens that fire, calls that go on without their callers, callers that never take their results; a stop at the end, or at
/// any time.
/// </summary>
internal sealed class OperationsScenario : Scenario
{
    private const int Callers = 2, Most = 3;
    private const string Cancelled = "cancelled", Alone = "goes on alone", Untaken = "its result is not taken", Stopped = "stopped";

    public override string Name => "operations";

    public override string Rule => "each call ends once, with its own result or by its own token; an operation serves no other call while its caller or the loop has it, comes back to its pool, and leaves no token behind";

    protected override IEnumerable<string> Own => [Cancelled, Alone, Untaken, Stopped];

    public override Action Begin(Schedule schedule)
    {
        var held = new HashSet<ClientOperation>();
        var tokens = new List<TokenSeam>();
        bool stops = schedule.Draw(3) == 0;
        int driving = Callers, made = 0, lost = 0, open = 0;
        DhtLayer? layer = null;
        OperationPool<NumberOperation>? pool = null;
        schedule.Start("main", () =>
        {
            var loop = NodeLoop.Start(new() { Cluster = "c", CommandCapacity = schedule.Draw(2) == 0 ? 2 : 16, Spin = TimeSpan.Zero }, node => layer = new(node));
            loop.Faulted += error => schedule.Fail($"The loop met a fault: {error}");
            pool = new(own =>
            {
                made++;
                return new(layer!, own);
            });
            for (int caller = 0; caller < Callers; caller++)
            {
                byte own = (byte)caller;
                schedule.Start($"caller{own}", () =>
                {
                    for (int i = schedule.Draw(Most); i >= 0; i--) One((byte)(own * 10 + i));
                    driving--;
                });
            }
            if (!stops) Explored.Wait(() => driving == 0 && open == 0 && layer!.InFlight == 0, what: "all calls");
            var ended = loop.StopAsync();
            Explored.Wait(() => ended.IsCompleted, what: "the end");
        });
        return () =>
        {
            Check.Equal(schedule, 0, driving, "Callers that still call");
            Check.Equal(schedule, 0, open, "Calls that have not ended");
            foreach (var token in tokens) Check.Equal(schedule, 0, token.Registered, "Registrations of a token");
            // An operation that was abandoned in a phase that only its coordinator may end is not used again.
            if (!stops) Check.Equal(schedule, made - lost, pool!.Free.Distinct().Count(), "Operations in the pool");
        };

        void One(byte number)
        {
            var op = pool!.Rent();
            if (held.Contains(op)) schedule.Fail("An operation serves two calls");
            var source = schedule.Draw(3) != 0 ? new TokenSeam() : null;
            if (source is not null)
            {
                tokens.Add(source);
                // Other tokens never fire.
                if (schedule.Draw(3) != 0) schedule.Start($"token{number}", source.Cancel);
            }
            op.Begin(OperationKind.Of(schedule.Draw(2) == 0), ConsistencyLevel.Strict, TimeSpan.FromSeconds(1));
            op.Bytes.GetSpan(1)[0] = number;
            op.Bytes.Advance(1);
            op.AddPart(0, 1, new() { Deed = new(KeyEffect.Read) });
            // Some callers never take their results.
            bool takes = schedule.Draw(4) != 0;
            open++;
            var call = op.Submit(source?.Token ?? default);
            // An operation that was cancelled before, or that waits for room, is given back before its caller hears of it: that caller awaits something else.
            var own = ReferenceEquals(Unsafe.As<ValueTask<ulong>, object>(ref call), op) ? op : null;
            if (own is not null) held.Add(own);
            if (takes && schedule.Draw(2) == 0 && !call.IsCompleted)
            {
                // The caller goes on where the call is completed.
                var awaiter = call.GetAwaiter();
                awaiter.UnsafeOnCompleted(() =>
                {
                    Take(own, awaiter.GetResult, number, source);
                    open--;
                });
                return;
            }
            bool ended = false;
            Explored.Wait(() => ended || (ended = call.IsCompleted), what: $"result {number}");
            if (takes) Take(own, call.GetAwaiter().GetResult, number, source);
            else if (own is not null) lost++;
            Reached.At(Untaken, !takes && own is not null);
            open--;
        }

        void Take(ClientOperation? own, Func<ulong> result, byte number, TokenSeam? source)
        {
            // The operation is the caller's until the caller has the result.
            if (own is not null) held.Remove(own);
            try
            {
                Check.Equal(schedule, number, result(), "The result");
            }
            catch (OperationCanceledException error)
            {
                Reached.At(Cancelled);
                Check.That(schedule, source is not null && error.CancellationToken == source.Token && source.Token.IsCancellationRequested, $"Call {number} was cancelled by no token of its own");
            }
            catch (OutcomeUnknownException)
            {
                Reached.At(Alone);
                Check.That(schedule, source is { Token.IsCancellationRequested: true } || stops, $"Call {number} was given up");
            }
            catch (Exception error) when (error is NotDhtMemberException or NodeStoppedException)
            {
                Reached.At(Stopped);
                Check.That(schedule, stops, $"Call {number} met {error}");
            }
        }
    }
}
