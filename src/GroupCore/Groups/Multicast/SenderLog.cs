using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;

namespace GroupCore.Groups.Multicast;

/// <summary>
/// What a member holds of one sender's messages of a view: a ring from <see cref="Base"/> (dropped: stable everywhere and delivered
/// here) through <see cref="Passed"/> (handed on, or waiting for its place in the order) and <see cref="Closed"/> to <see cref="Received"/>.
/// Source: multicast.md#only-closed-messages-are-delivered-and-acknowledged.
/// </summary>
internal sealed class SenderLog
{
    private StoredMessage[] _ring = [];
    private Queue<(uint Seq, MessageSlab Slab, int Length)>? _assembled;
    private MessageSlab? _assembly;
    private int _assemblyLength;
    private uint _settled;

    public uint Base { get; private set; }

    public uint Received { get; private set; }

    public uint Closed { get; set; }

    public uint Passed { get; set; }

    /// <summary>One above the last ordered message of this sender that was delivered.</summary>
    public uint OrderedDelivered { get; set; }

    /// <summary>At the sequencer: the number up to which this sender's ordered messages have positions.</summary>
    public uint Sequenced { get; set; }

    /// <summary>Whether the last record received leaves its message unfinished.</summary>
    public bool IsOpen { get; private set; }

    /// <summary>At the sequencer: this sender counted on positions that were never given, so nothing more of it gets one in this view.</summary>
    public bool IsPassedOver { get; set; }

    public long Bytes { get; private set; }

    public int Count => (int)(Received - Base);

    public bool Full => Count >= GroupLimits.StoredMessages || Bytes >= GroupLimits.StoredBytes;

    /// <summary>Whether this member acknowledges nothing more of the sender until more of what is stored is stable.</summary>
    public bool StopsAcks => Count >= GroupLimits.AckStopMessages || Bytes >= GroupLimits.AckStopBytes;

    public ref StoredMessage this[uint seq] => ref _ring[seq & (uint)(_ring.Length - 1)];

    public bool Holds(uint seq) => seq - Base < Received - Base;

    public void Append(MessageSlab slab, int offset, int length, MessageKind kind, uint dep)
    {
        if (Count == _ring.Length) Grow();
        ref var message = ref this[Received];
        message.Slab = slab;
        message.Offset = offset;
        message.Length = length;
        message.Dep = dep;
        message.Kind = kind;
        IsOpen = (kind & MessageKind.Last) == MessageKind.None;
        slab.Store(length);
        Bytes += length;
        Received++;
    }

    /// <summary>Drops messages below <paramref name="limit"/> that are delivered; returns their window cost.</summary>
    public long DropBelow(uint limit)
    {
        long cost = 0;
        while (Base < limit && Base < Passed)
        {
            ref var message = ref this[Base];
            if (message.TakesPosition && Base >= OrderedDelivered) break;
            cost += GroupLimits.Cost(message.Length);
            Bytes -= message.Length;
            message.Slab.Drop(message.Length);
            message.Slab = null!;
            Base++;
        }
        return cost;
    }

    /// <summary>The slab of each stored message; for checks.</summary>
    public IEnumerable<MessageSlab> Slabs
    {
        get
        {
            for (uint seq = Base; seq != Received; seq++) yield return this[seq].Slab;
        }
    }

    /// <summary>Moves messages that were here already at the last call out of sparse slabs into <paramref name="into"/>, a slab for such messages.</summary>
    public void Squeeze(MessageSlabPool slabs, ref MessageSlab? into)
    {
        for (uint seq = Base; seq < _settled; seq++)
        {
            ref var message = ref this[seq];
            if (!message.Slab.IsSparse || message.Slab == into) continue;
            if (into is null || into.Free < message.Length)
            {
                into?.Release(1);
                into = slabs.Rent(message.Length);
            }
            message.Record.CopyTo(into.Bytes.AsSpan(into.Used));
            message.Slab.Drop(message.Length);
            (message.Slab, message.Offset) = (into, into.Used);
            into.Used += message.Length;
            into.Store(message.Length);
        }
        _settled = Received;
    }

    /// <summary>Adds a fragment to the message that is being put together; false when it does not continue one, or the message becomes too large.</summary>
    public bool Assemble(in StoredMessage message)
    {
        var payload = message.Record[message.Head..];
        if ((message.Kind & MessageKind.First) != MessageKind.None)
        {
            DropAssembly();
            _assembly = MessageSlab.Rent(MessageSlab.Size);
        }
        if (_assembly is null || _assemblyLength + payload.Length > GroupLimits.MessageBytes) return false;
        if (_assembly.Bytes.Length - _assemblyLength < payload.Length)
        {
            var larger = MessageSlab.Rent(Math.Max(_assembly.Bytes.Length * 2, _assemblyLength + payload.Length));
            _assembly.Bytes.AsSpan(0, _assemblyLength).CopyTo(larger.Bytes);
            _assembly.Release(1);
            _assembly = larger;
        }
        payload.CopyTo(_assembly.Bytes.AsSpan(_assemblyLength));
        _assemblyLength += payload.Length;
        return true;
    }

    /// <summary>Takes the message that was put together; the caller then holds its slab.</summary>
    public (MessageSlab? Slab, int Length) TakeAssembly()
    {
        var taken = (_assembly, _assemblyLength);
        (_assembly, _assemblyLength) = (null, 0);
        return taken;
    }

    /// <summary>Keeps the message that was put together until its position is delivered.</summary>
    public void KeepAssembly(uint seq)
    {
        var (slab, length) = TakeAssembly();
        if (slab is not null) (_assembled ??= new()).Enqueue((seq, slab, length));
    }

    /// <summary>Takes the kept message whose position is delivered. Kept messages before it are dropped, as they get no position any more.</summary>
    public (MessageSlab? Slab, int Length) TakeKept(uint seq)
    {
        while (_assembled is not null && _assembled.TryPeek(out var kept) && kept.Seq <= seq)
        {
            _assembled.Dequeue();
            if (kept.Seq == seq) return (kept.Slab, kept.Length);
            kept.Slab.Release(1);
        }
        return default;
    }

    /// <summary>Gives everything back at the end of the view; returns the window cost of what was held.</summary>
    public long Clear()
    {
        long cost = 0;
        for (; Base != Received; Base++)
        {
            ref var message = ref this[Base];
            cost += GroupLimits.Cost(message.Length);
            message.Slab.Drop(message.Length);
            message.Slab = null!;
        }
        Bytes = 0;
        DropAssembly();
        while (_assembled is { Count: > 0 }) _assembled.Dequeue().Slab.Release(1);
        return cost;
    }

    /// <summary>Gives its ring back when it is empty.</summary>
    public void Trim()
    {
        if (Count == 0) _ring = [];
    }

    private void DropAssembly() => TakeAssembly().Slab?.Release(1);

    private void Grow()
    {
        var larger = new StoredMessage[Math.Max(16, _ring.Length * 2)];
        for (uint seq = Base; seq != Received; seq++) larger[seq & (uint)(larger.Length - 1)] = this[seq];
        _ring = larger;
    }
}
