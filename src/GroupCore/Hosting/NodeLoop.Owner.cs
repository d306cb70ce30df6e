using System.Runtime.ExceptionServices;
using GroupCore.Basics;
using GroupCore.Platform;

namespace GroupCore.Hosting;

/// <content>
/// The two threads of a loop, by the leader/followers pattern. The owner of the loop runs a turn, and then itself runs the completions of that turn, so that
/// a caller's continuation and a group's handlers cost no thread switch. If the completions take long, the follower takes the role
/// (<see cref="FollowerThread"/>), and the thread that comes back late is the follower from then on.
/// </content>
internal sealed partial class NodeLoop
{
    private const int Threads = 2;

    // After this many nanoseconds in a batch the thread may be blocked: other runners go on with the rest of the batch.
    private const long StuckAfter = 100_000;
    private const long TakeInterruptsEvery = 1_000_000;
    private readonly FollowerThread _follower;
    private ExecutionContext _context = null!;
    private int _threads = Threads;
    private volatile bool _over;
    private bool _inTurn;
    private bool _unended;
    private CompletionBatch? _completed;
    private CompletionBatch? _runningBatch;
    private long _runningSince;
    private long _spin;
    private long _idleSince;
    private long _sleepUntil;
    private long _interruptTaken;

    private long NextTimer => Math.Min(_node.NextTimer, _mesh.NextTimer);

    private void Run(bool owner)
    {
        // This thread was started without its starter's context (UnsafeStart). Completions begin in this default context.
        _context = ExecutionContext.Capture()!;
        while (!_over)
        {
            if (owner && RunAsOwner()) break;
            _follower.Park();
            LateInterrupt.Take();
            owner = !_over && _ownership.TryResume();
        }
        if (Interlocked.Decrement(ref _threads) == 0) _follower.Dispose();
    }

    // True when the loop has ended, false when the other thread has the role now.
    private bool RunAsOwner()
    {
        Exception? fault = null;
        try
        {
            if (!TurnUntilStopped()) return false;
        }
        catch (Exception error)
        {
            fault = error;
        }
        // A caller's turn may have thrown after the last look at _callersFault.
        End(fault ?? _callersFault);
        return true;
    }

    // False when the other thread has the role now.
    private bool TurnUntilStopped()
    {
        while (!_stopping)
        {
            bool worked = Turn();
            if (_completed is { } batch)
            {
                _completed = null;
                if (!RunBatch(batch)) return false;
            }
            else if (!worked)
            {
                Idle();
                continue;
            }
            _idleSince = 0;
        }
        return true;
    }

    // True when something happened.
    private bool Turn()
    {
        _node.Advance(HostClock.Now());
        if (_callersFault is not null) ExceptionDispatchInfo.Throw(_callersFault);
        if (_runningBatch is not null) Relieve();
        int work = _mesh.Poll() + _node.RunCommands() + _node.FireTimers();
        if (_unended) work++;
        _unended = false;
        if (work > 0) _node.EndTurn();
        if (work > 0 || _mesh.HasWork) Flush();
        _inTurn = true;
        _node.Release();
        _inTurn = false;
        return work > 0 || _mesh.HasWork;
    }

    private void Flush()
    {
        _unsent = false;
        _mesh.Flush();
    }

    /// <summary>Runs the completions of a turn on this thread; false when the other thread has taken the role meanwhile.</summary>
    private bool RunBatch(CompletionBatch batch)
    {
        if (!_follower.IsParked)
        {
            batch.Queue();
            return true;
        }
        long began = HostClock.Now();
        (_runningBatch, _runningSince) = (batch.Count > 1 ? batch : null, _node.Now);
        _ownership.Open(LoopState.RunningCompletions);
        _follower.OnLeft();
        ExecutionContext.Run(_context, static batch => ((CompletionBatch)batch!).RunHere(), batch);
        long took = HostClock.Now() - began;
        _follower.OnBack(took);
        // Code interrupts a thread only after it has waited for it, so a short batch leaves no late interrupt.
        if (took > StuckAfter) LateInterrupt.Take();
        if (!_ownership.TryResume()) return false;
        _runningBatch = null;
        // Sends what a caller's turn left, unless that turn threw.
        if (_mesh.HasWork && _callersFault is null) Flush();
        return true;
    }

    /// <summary>If the other thread has been in its batch for a long time, lets a runner of the pool go on with the rest.</summary>
    private void Relieve()
    {
        if (_node.Now - _runningSince < StuckAfter) return;
        _runningBatch!.AddRunner();
        _runningBatch = null;
    }

    private void Idle()
    {
        long now = HostClock.Now();
        if (_idleSince == 0) _idleSince = now;
        bool sleeps = now - _idleSince >= _spin && _runningBatch is null;
        _sleepUntil = NextTimer;
        _ownership.Open(sleeps ? LoopState.Asleep : LoopState.Looking);
        try
        {
            if (!sleeps) Thread.Yield();
            else if (Interlocked.Exchange(ref _wakeAsked, 0) == 0 && !_node.HasCommands && !_stopping && _sleepUntil > now) Sleep(now);
        }
        finally
        {
            // Also after an exception: no caller may run a turn while the node ends.
            _ownership.Close();
        }
        if (sleeps) _idleSince = 0;
    }

    // After a long sleep spin less next time, since spinning found nothing. After a short one spin the most again, since spinning on would have found the work.
    private void Sleep(long now)
    {
        _mesh.Wait(_sleepUntil == long.MaxValue ? long.MaxValue : _sleepUntil - now);
        long woke = HostClock.Now();
        bool soon = woke - now < 8 * _mostSpin;
        _spin = soon ? _mostSpin : _spin > 1000 ? _spin - (_spin / 4) : 0;
        // Not after each sleep: it takes 140 ns.
        if (woke - _interruptTaken < TakeInterruptsEvery) return;
        _interruptTaken = woke;
        LateInterrupt.Take();
    }
}
