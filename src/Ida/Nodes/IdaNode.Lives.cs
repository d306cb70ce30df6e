using GroupCore.Basics;
using GroupCore.Hosting;
using GroupCore.Runtime;
using Ida.Nodes;

namespace Ida;

/// <summary>Goes from one life to the next, in one task: at most one life follows another, however often and for whatever reason its end is reported.</summary>
public sealed partial class IdaNode
{
    private const int EndsInARow = 3;
    private const long EndsWithin = 60_000_000_000;
    // How long the end of the process waits for the logger.
    private static readonly TimeSpan LastLines = TimeSpan.FromSeconds(1);
    private int _ends;

    // Of the time for a start, some may be spent.
    private void BeginLife(TimeSpan spent = default)
    {
        // Either a life begins before the stop, which then ends it, or it does not begin.
        using (_gate.Hold())
        {
            if (_stopped) throw new OperationCanceledException(_untilStopped);
            _host.Begin(node => _life = new NodeLife(node, _options, _host.MembershipOptions(_options), _log, spent));
            if (!_host.IsMeasured) return;
            NodeMeters.Add(_life);
            Publication.Begin(_life.Node);
        }
    }

    /// <summary>Waits for the end of the current life and does what the policies say; goes on until the node stops.</summary>
    private async Task FollowAsync()
    {
        RejoinCall? call = null;
        try
        {
            for (; ; )
            {
                var life = _life;
                var reason = await life.Lost.ConfigureAwait(false);
                if (_stopped) return;
                if (!Rejoins(life, reason))
                {
                    await StopAsync(goodbye: false, reason).ConfigureAwait(false);
                    return;
                }
                var ended = call?.EndAsync(_host);
                call = null;
                await EndLifeAsync().ConfigureAwait(false);
                if (ended is not null) await ended.ConfigureAwait(false);
                // Ending a life may take seconds; a caller that stops the node meanwhile learns of a fault from the stop.
                if (_stopped) return;
                // A fault on the way out of an excluded life: now the policy for faults says what follows, even if the log was told of a new life.
                if (reason is not NodeFaultedException && _host.Fault is { } fault && !Rejoins(life, fault))
                {
                    life.Node.Log.RejoinFailed(fault);
                    await StopAsync(goodbye: false, fault).ConfigureAwait(false);
                    return;
                }
                BeginLife();
                try
                {
                    await _life.Registered.WaitAsync(_untilStopped).ConfigureAwait(false);
                }
                catch (Exception) when (_life.Lost.IsCompleted)
                {
                    continue;
                }
                _life.Node.Log.NodeRejoined();
                if (_options.OnRejoined is not { } rejoined) continue;
                call = new(this, _life, rejoined, _untilStopped);
                _ = StopIfItFailsAsync(call);
                // It is user code, which may block: this method has to hear of the next life's end all the same.
                _life.Node.Resume(call);
            }
        }
        catch (Exception) when (_stopped)
        {
            // The node was stopped while it rejoined.
        }
        catch (Exception fault)
        {
            _life.Node.Log.RejoinFailed(fault);
            await StopAsync(goodbye: false, fault).ConfigureAwait(false);
        }
    }

    private bool Rejoins(NodeLife life, Exception reason)
    {
        bool faulted = reason is NodeFaultedException;
        var policy = faulted ? _options.OnFault : _options.OnExcluded;
        bool rejoins = policy == ExclusionPolicy.Rejoin && MayTryAgain(life, faulted);
        bool told = life.TellLost(reason, rejoins ? "a new life" : policy == ExclusionPolicy.Exit ? "the end of the process" : "the node stops");
        switch (policy)
        {
            case ExclusionPolicy.Exit:
                // The log was told of a new life, which will not come.
                if (!told) life.Node.Log.RejoinFailed(reason);
                if (faulted) LastWords.Say(reason);
                _log?.Finish(LastLines);
                Environment.Exit(faulted ? FaultedExitCode : ExcludedExitCode);
                return false;
            default:
                return rejoins;
        }
    }

    // A cause that ended several lives soon after they began will end the next one too. A life that was excluded after its registration may always rejoin.
    private bool MayTryAgain(NodeLife life, bool faulted)
    {
        if (!faulted && life.Registered.IsCompletedSuccessfully) return true;
        _ends = life.Node.Now - life.Began < EndsWithin ? _ends + 1 : 1;
        return _ends < EndsInARow;
    }

    /// <summary>Ends the current life, and tells the log what went wrong on the way out.</summary>
    private async ValueTask EndLifeAsync()
    {
        await _host.EndAsync().ConfigureAwait(false);
        // A start that failed may not have made a life.
        if (_life is { } life) life.TellFault(_host.Fault);
    }

    /// <summary>An exception from a life's callback ends the node, unless that life is over: then the end of the life is the cause, and the next life has its own call.</summary>
    private async Task StopIfItFailsAsync(RejoinCall call)
    {
        if (await call.Failure.ConfigureAwait(false) is not { } failure || call.Life.IsOver) return;
        call.Life.Node.Log.RejoinFailed(failure);
        await StopAsync(goodbye: false, failure).ConfigureAwait(false);
    }

    /// <summary>Tells user code that its work is over. Its cancellation callbacks may throw, or never return: nobody waits for them.</summary>
    internal static async Task CancelAsync(CancellationTokenSource source)
    {
        try
        {
            await source.CancelAsync().ConfigureAwait(false);
        }
        catch (AggregateException)
        {
            // Thrown by the user's callbacks.
        }
        source.Dispose();
    }
}
