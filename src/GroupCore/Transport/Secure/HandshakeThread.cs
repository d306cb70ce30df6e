using GroupCore.Basics;
using GroupCore.Platform;

namespace GroupCore.Transport.Secure;

/// <summary>
/// The thread on which a node shakes hands: a handshake costs 1 to 3 ms, and they call the user's code. Neither belongs into a turn of the loop, nor onto the
/// thread pool, all threads of which the user's code may hold. Strangers that flood the node with handshakes keep this thread busy, and no other.
/// </summary>
/// <remarks>
/// The node's own dials, and handshakes that have begun, go first. Of connections that were only just accepted the newest goes first: in a flood most of them are strangers' that have given their
/// place to others, and a member that dials in is served at once instead of behind all of them.
/// </remarks>
internal sealed class HandshakeThread : IHandshakes
{
    private readonly Lock _lock = new();

    // Under the lock, as are the signal and its end. Neither has more than there are connections whose handshake goes on, and one for each that was given up in the midst of it.
    private readonly List<Handshake> _begun = [];
    private readonly List<Handshake> _accepted = [];
    private readonly ThreadSignal _signal;
    private bool _ended, _gone;

    /// <param name="start">Starts a thread.</param>
    /// <param name="name">Its name.</param>
    /// <param name="portable">Uses what other systems use, even on Linux.</param>
    public HandshakeThread(Action<Thread> start, string name, bool portable = false)
    {
        _signal = new(portable);
        try
        {
#pragma warning disable RS0030 // The one thread beside those of the loop; see above.
            start(new(Run) { IsBackground = true, Name = name });
#pragma warning restore RS0030
        }
        catch
        {
            _signal.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public void Post(Handshake handshake)
    {
        using (_lock.Hold())
        {
            if (handshake.IsNew) _accepted.Add(handshake);
            else _begun.Add(handshake);
            Wake();
        }
    }

    /// <inheritdoc/>
    public bool TryTakeBack(Handshake handshake)
    {
        using (_lock.Hold()) return !handshake.HasBegun && (_accepted.Remove(handshake) || _begun.Remove(handshake));
    }

    /// <summary>Lets the thread end after what it is doing.</summary>
    public void Dispose()
    {
        using (_lock.Hold())
        {
            _ended = true;
            Wake();
        }
    }

    // Once the signal is gone, its descriptor may belong to another file.
    private void Wake()
    {
        if (!_gone) _signal.Set();
    }

    private void Run()
    {
        while (!_gone)
        {
            if (Next() is { } next) next.Advance();
            else if (!_gone) _signal.Wait(Timeout.Infinite);
        }
    }

    // Null if there is none; then the thread waits, or ends.
    private Handshake? Next()
    {
        using (_lock.Hold())
        {
            if (_begun.Count > 0)
            {
                var first = _begun[0];
                _begun.RemoveAt(0);
                return first;
            }
            if (_accepted.Count > 0)
            {
                var newest = _accepted[^1];
                _accepted.RemoveAt(_accepted.Count - 1);
                return newest;
            }
            if (!_ended) return null;
            _gone = true;
            _signal.Dispose();
            return null;
        }
    }
}
