using System.Collections.Concurrent;
using GroupCore.Basics;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>
/// The numbers of a session, in the order in which operations begin: puts get odd ones, reads even ones. Callers may take odd ones beforehand, on any thread, for puts to come
/// (<see cref="Dht.NewOperation"/>). Source: dht-order.md#ids-may-be-taken-beforehand.
/// </summary>
/// <remarks>
/// From the moment when it is taken, a number keeps the outcomes from it on from being acknowledged, so that replicas remember them, whether its put has come, and was told, or not. That ends when
/// <see cref="Kept"/> more puts have begun, or replicas have no room: a number that is never used must not keep other puts from beginning.
/// A caller takes its number and then tells the loop. So the loop looks at the last number first, and whether anybody is in between after that: then it goes on with what it found the last time.
/// </remarks>
internal sealed class OperationNumbers
{
    private readonly Lock _gate = new();
    private readonly ConcurrentQueue<ulong> _told = new();
    private ulong _last, _takenCount;
    private bool _taking;

    // Of the loop, in ascending order, with the number of puts up to each.
    private readonly Queue<(ulong Number, ulong Puts)> _taken = new();
    private ulong _collected, _keptFrom = 1;

    /// <summary>The last number that was given or taken.</summary>
    public ulong Last => Volatile.Read(ref _last);

    /// <summary>Number of puts so far, those that may come under taken numbers included. For the loop.</summary>
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

    /// <summary>A number for a put to come, on any thread.</summary>
    public ulong Take()
    {
        using (_gate.Hold())
        {
            Volatile.Write(ref _taking, true);
            try
            {
                ulong number = Give(put: true);
                // The loop would drop more of them at once.
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

    /// <summary>The first number whose outcome must be remembered for a caller that took one: of puts that are not over, the coordinator knows itself. For the loop.</summary>
    public ulong KeptFrom()
    {
        ulong next = Last + 1;
        if (Volatile.Read(ref _taking)) return _keptFrom;
        Collect();
        return _keptFrom = _taken.TryPeek(out var first) ? first.Number : next;
    }

    /// <summary>Replicas have no room for more outcomes: keeps none any longer. False where it kept none. For the loop.</summary>
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
