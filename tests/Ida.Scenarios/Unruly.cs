using System.Diagnostics;
using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Tests.Shared;

namespace Ida.Scenarios;

/// <summary>
/// What programs attach to their nodes, and what throws here: loggers, which belong to a node, and a listener of activities, which belongs to the process, so that only schedules
/// that are named have it.
/// </summary>
internal static class Unruly
{
    public const string Loggers = "loggers that throw", Listener = "listener of activities that throws";
    private const double Throws = 0.2;

    // The listener is called on the threads of callers, and a schedule has one.
    [ThreadStatic]
    private static (Prng Random, Ingredients Drawn)? t_run;
    private static ActivityListener? s_listener;
    private static readonly Lock s_gate = new();

    /// <summary>The options of a node, in one of three runs with loggers that throw.</summary>
    /// <param name="options">The options.</param>
    /// <param name="seed">The seed of the run.</param>
    /// <param name="drawn">What the run drew.</param>
    public static IdaNodeOptions Log(IdaNodeOptions options, ulong seed, Ingredients drawn)
    {
        var random = new Prng(seed ^ 0x1099);
        if (random.Next(3) != 0) return options;
        random = random.Fork();
        return options with
        {
            LoggerFactory = new UnrulyLoggers(() =>
            {
                if (!random.Chance(Throws)) return;
                drawn.Draw(Loggers);
                throw new FormatException("A logger that throws.");
            }),
        };
    }

    /// <summary>From now on the listener throws at some calls that this thread makes, until the returned object is disposed. The process listens as long as it lives.</summary>
    public static IDisposable Listen(ScenarioRun run)
    {
        lock (s_gate)
        {
            s_listener ??= UnrulyListener.Begin(Throw);
            // A simulated node is not measured, and makes no sources.
            GroupTraces.Publish();
            DhtTraces.Publish();
        }
        t_run = (new(run.Case.Seed ^ 0x7124CE), run.Ingredients);
        return new Ear();
    }

    private static void Throw()
    {
        if (t_run is not { } run || !run.Random.Chance(Throws)) return;
        run.Drawn.Draw(Listener);
        throw new FormatException("A listener that throws.");
    }

    private sealed class Ear : IDisposable
    {
        public void Dispose() => t_run = null;
    }
}
