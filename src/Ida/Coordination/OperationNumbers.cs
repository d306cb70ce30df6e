using System.Collections.Concurrent;
using GroupCore.Basics;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>
/// The numbers of a session, in the order in which operations begin: puts get odd ones, reads even ones. Callers may take odd ones beforehand, on any thread, for later puts
/// (<see cref="Dht.NewOperation"/>). Source: dht-order.md#ids-may-be-taken-beforehand.
/// </summary>
/// <remarks>
/// Once a number is taken, no outcome from this number on is acknowledged, so that replicas remember them, whether or not the put has come and a caller was told. That ends when
/// <see cref="Kept"/> more puts have begun, or replicas have no room: a number that is never used must not keep other puts from beginning.
/// A caller first takes its number and then tells the loop. So the loop first reads the last number, and then looks whether a caller is in between; if so, it keeps to its previous result.
/// </remarks>
internal sealed class OperationNumbers
{
    private readonly Lock _gate = new();
    private readonly ConcurrentQueue<ulong> _told = new();
    private ulong _last, _takenCount;
    private bool _taking;

    // For the loop: the taken numbers, ascending, each with the number of puts up to it.
    private readonly Queue<(ulong Number, ulong Puts)> _taken = new();
    private ulong _collected, _keptFrom = 1;

    /// <summary>The last number that was given or taken.</summary>
    public ulong Last => Volatile.Read(ref _last);

    /// <summary>Number of puts so far, including those that may come under taken numbers. For the loop.</summary>
    public ulong Puts { get; private set; }

    /// <summary>How often kept outcomes were released: what was refused for lack of room before may find room now.</summary>
    public int Releases { get; private set; }

    /// <summary>For how many more puts a taken number keeps outcomes.</summary>
    public ulong Kept { get; set; } = DhtLimits.TakenIds;

    public static bool IsOfRead(ulong number) => (number & 1) == 0;

    /// <summary>The number of an operation that begins. For the loop.</summary>
    public ulong Next(bool put)
    {
        if (put) Puts++;
        return Give(put);
    }

    /// <summary>A number for a later put. From any thread.</summary>
    public ulong Take()
    {
        using (_gate.Hold())
        {
            Volatile.Write(ref _taking, true);
            try
            {
                ulong number = Give(put: true);
                // The loop would drop any more at once.
                if (_told.Count >= DhtLimits.TakenIds) _told.TryDequeue(out _);
                _told.Enqueue(number);
                Volatile.Write(ref _takenCount, _takenCount + 1);
                return number;
            }
            finally
            {
                Volatile.Write(ref _taking, false);
            }
        }
    }

    /// <summary>The first number whose outcome must be remembered because a caller took it. The coordinator itself knows the puts that are not over. For the loop.</summary>
    public ulong KeptFrom()
    {
        ulong next = Last + 1;
        if (Volatile.Read(ref _taking)) return _keptFrom;
        Collect();
        return _keptFrom = _taken.TryPeek(out var first) ? first.Number : next;
    }

    /// <summary>Replicas have no room for more outcomes: keeps none any longer. False if it kept none. For the loop.</summary>
    public bool Release()
    {
        ulong next = Last + 1;
        Collect();
        if (_taken.Count == 0) return false;
        _taken.Clear();
        _taken.TrimExcess();
        _keptFrom = next;
        Releases++;
        return true;
    }

    private void Collect()
    {
        ulong count = Volatile.Read(ref _takenCount);
        if (count != _collected)
        {
            _collected = count;
            while (_told.TryDequeue(out ulong number)) _taken.Enqueue((number, ++Puts));
        }
        while (_taken.TryPeek(out var first) && Puts - first.Puts >= Kept) _taken.Dequeue();
    }

    private ulong Give(bool put)
    {
        while (true)
        {
            ulong last = Last, next = last + 1;
            if (put == IsOfRead(next)) next++;
            if (Interlocked.CompareExchange(ref _last, next, last) == last) return next;
        }
    }
}
