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

    /// <summary>Begins to read a saved state; what is there stays until that is finished.</summary>
    IRestore BeginRestore();
}
