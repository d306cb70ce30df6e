using System.Buffers;
using GroupCore.Groups.Multicast;

namespace GroupCore.Groups.State;

/// <summary>What the user's code writes a checkpoint to: it ends one that becomes too large, or that nobody needs any more, where it is.</summary>
internal sealed class StateWriter(StateCut cut, PayloadBuffer bytes, long limit) : IBufferWriter<byte>
{
    public void Advance(int count)
    {
        bytes.Advance(count);
        if (bytes.Length > limit)
            throw new InvalidOperationException($"It has more than the {limit} bytes that {nameof(GroupHostOptions.MaxCheckpointBytes)} allows where it is saved.");
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        ThrowIfDropped();
        return bytes.GetMemory(sizeHint);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        ThrowIfDropped();
        return bytes.GetSpan(sizeHint);
    }

    private void ThrowIfDropped()
    {
        if (cut.IsDropped) throw new OperationCanceledException("The view that the state is saved for is over.");
    }
}
