using System.Numerics;

namespace GroupCore.Runtime;

/// <summary>
/// Bounded queue from any thread to the loop (D. Vyukov's array queue with sequence numbers, one consumer): one compare-exchange per
/// command, no lock, no allocation. A full queue refuses commands; callers then wait, so back-pressure reaches them as an incomplete task.
/// </summary>
internal sealed class CommandQueue
{
    private readonly Slot[] _slots;
    private readonly int _mask;
    private long _tail;
    private long _head;

    public CommandQueue(int capacity)
    {
        int size = (int)BitOperations.RoundUpToPowerOf2((uint)capacity);
        _slots = new Slot[size];
        _mask = size - 1;
        for (int i = 0; i < size; i++) _slots[i].Sequence = i;
    }

    public bool IsEmpty => Volatile.Read(ref _slots[_head & _mask].Sequence) != _head + 1;

    public bool TryEnqueue(NodeCommand command)
    {
        long at = Volatile.Read(ref _tail);
        while (true)
        {
            ref Slot slot = ref _slots[at & _mask];
            long ahead = Volatile.Read(ref slot.Sequence) - at;
            if (ahead < 0) return false;
            long seen = ahead == 0 ? Interlocked.CompareExchange(ref _tail, at + 1, at) : Volatile.Read(ref _tail);
            if (ahead == 0 && seen == at)
            {
                slot.Command = command;
                Volatile.Write(ref slot.Sequence, at + 1);
                return true;
            }
            at = seen;
        }
    }

    public bool TryDequeue([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out NodeCommand? command)
    {
        ref Slot slot = ref _slots[_head & _mask];
        if (Volatile.Read(ref slot.Sequence) != _head + 1)
        {
            command = null;
            return false;
        }
        command = slot.Command!;
        slot.Command = null;
        Volatile.Write(ref slot.Sequence, _head + _slots.Length);
        _head++;
        return true;
    }

    private struct Slot
    {
        public long Sequence;
        public NodeCommand? Command;
    }
}
