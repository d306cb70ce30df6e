using System.Buffers;

namespace Oracle.Log;

/// <summary>What the log drives: gets committed entries in order, the same ones at every replica.</summary>
internal interface IStateMachine
{
    /// <summary>Applies a committed entry of kind <see cref="EntryKind.Operations"/>. Malformed content has no effect, at every replica alike.</summary>
    void Apply(ulong index, ReadOnlySpan<byte> content);

    void Save(IBufferWriter<byte> into);

    /// <summary>Replaces the whole state; false, and nothing changed, when the bytes are not a saved state.</summary>
    bool TryRestore(ReadOnlySpan<byte> bytes);
}
