using System.Buffers;

namespace Oracle.Log;

/// <summary>What the log drives: gets committed entries in order, the same ones at every replica.</summary>
internal interface IStateMachine
{
    /// <summary>
    /// Applies a committed entry of kind <see cref="EntryKind.Operations"/>. A replica that cannot read what others may have applied stops being one:
    /// it throws, which ends its node. What requests and frames bring was read before it came into the log, so no stranger does that.
    /// </summary>
    /// <exception cref="InvalidDataException">The content is malformed, or of a later version; nothing has changed.</exception>
    void Apply(ulong index, ReadOnlySpan<byte> content);

    void Save(IBufferWriter<byte> into);

    /// <summary>Replaces the whole state; false, and nothing changed, when the bytes are not a saved state.</summary>
    bool TryRestore(ReadOnlySpan<byte> bytes);
}
