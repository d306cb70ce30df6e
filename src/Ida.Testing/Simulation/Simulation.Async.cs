using GroupCore.Runtime;

namespace Ida.Testing;

// Asynchronous code of tests: it runs on the simulation's thread between steps, and time passes only while it waits.
public sealed partial class Simulation
{
    private readonly SimContext _context;
    private readonly Queue<(SendOrPostCallback Callback, object? State)> _continuations = new();
    private Exception? _failure;

    /// <summary>
    /// Runs asynchronous code to its end while virtual time passes. Its awaits of calls to nodes and of <see cref="Delay"/> resume between
    /// steps, in order. Throws what the code throws, and <see cref="SimulationException"/> when it is not done within <paramref name="limit"/>.
    /// </summary>
    public T RunAsync<T>(Func<Task<T>> body, TimeSpan limit)
    {
        ArgumentNullException.ThrowIfNull(body);
        var task = Begin(body);
        Finish(task, limit);
        return task.GetAwaiter().GetResult();
    }

    /// <summary>The same for code without a result.</summary>
    public void RunAsync(Func<Task> body, TimeSpan limit)
    {
        ArgumentNullException.ThrowIfNull(body);
        var task = Begin(body);
        Finish(task, limit);
        task.GetAwaiter().GetResult();
    }

    /// <summary>Starts asynchronous code that goes on in later steps; what it throws ends the run. The task may be awaited by other such code.</summary>
    public Task Spawn(Func<Task> body)
    {
        ArgumentNullException.ThrowIfNull(body);
        return Begin(() => Guard(body));
    }

    /// <summary>Completes after some virtual time.</summary>
    public Task Delay(TimeSpan time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.Zero);
        var done = new TaskCompletionSource();
        After(time, done.SetResult);
        return done.Task;
    }

    internal void Enqueue(SendOrPostCallback callback, object? state)
    {
        _continuations.Enqueue((callback, state));
        // Outside of a step nothing would look at the queue before the next event.
        if (!_stepping && _continuations.Count == 1) Events.Add(Time, SimEventKind.Continuation, (Action)(static () => { }));
    }

    /// <summary>Runs the work in a later step of the same time, without a synchronization context.</summary>
    internal void Resume(ICompletion work) => Events.Add(Time, SimEventKind.Continuation, (Action)work.Run);

    /// <summary>Makes the run fail, at the end of this step or of the whole run, with something that was thrown where a caller's code might have caught it.</summary>
    internal void Fail(Exception exception) => _failure ??= exception;

    private T Begin<T>(Func<T> body)
        where T : Task
    {
        var outer = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(_context);
        try
        {
            return body();
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(outer);
        }
    }

    private async Task Guard(Func<Task> body)
    {
        try
        {
            await body();
        }
        catch (Exception exception)
        {
            Fail(exception);
            throw;
        }
    }

    private void Finish(Task task, TimeSpan limit)
    {
        if (_stepping) throw new InvalidOperationException("RunAsync cannot be called from inside a step; use Spawn.");
        if (RunUntil(() => task.IsCompleted, limit)) return;
        RequireOwnThread();
        throw new SimulationException(this, $"Asynchronous code was not done after {limit.TotalSeconds:0.###} s of virtual time; it awaits something that never completes.");
    }

    private void DrainContinuations()
    {
        while (_continuations.TryDequeue(out var next))
        {
            Trace.Add((ulong)SimEventKind.Continuation);
            var outer = SynchronizationContext.Current;
            SynchronizationContext.SetSynchronizationContext(_context);
            try
            {
                next.Callback(next.State);
            }
            finally
            {
                SynchronizationContext.SetSynchronizationContext(outer);
            }
        }
        ThrowFailure();
    }

    private void ThrowFailure()
    {
        if (_failure is not { } failure) return;
        _failure = null;
        throw new SimulationException(this, $"Spawned code or a caller's turn threw {failure.GetType().Name}: {failure.Message}", failure);
    }
}
