using System.Buffers;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Dispatch;

namespace GroupCore.Groups.State;

/// <summary>
/// What user code writes a checkpoint to. It throws when the checkpoint becomes too large, or when nobody needs it any more. When the code has returned, the
/// state is whole: more would not be part of it, and would be written while it is sent.
/// </summary>
internal sealed class StateWriter(StateCut cut, PayloadBuffer bytes, long limit) : IBufferWriter<byte>
{
    private volatile bool _closed;

    /// <summary>The code has returned.</summary>
    public void Close() => _closed = true;

    public void Advance(int count)
    {
        ThrowIfClosed();
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

    public static Action<IBufferWriter<byte>> NotAsync(Action<IBufferWriter<byte>> save, string parameter) =>
        UserCode.NotAsync(save, "The save delegate must not be async: it must have written the whole state when it returns.", parameter);

    private void ThrowIfClosed()
    {
        if (_closed) throw cut.FailLate(new InvalidOperationException("The checkpoint writer was used after the save had returned; the save must write everything before it returns."));
    }

    private void ThrowIfDropped()
    {
        ThrowIfClosed();
        if (cut.IsDropped) throw new OperationCanceledException("The view that the state is saved for is over.");
    }
}
