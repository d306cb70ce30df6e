using System.Buffers;

namespace Oracle.Raft;

/// <summary>The state machine that the log drives: it gets committed entries in order, the same ones at every replica.</summary>
internal interface IStateMachine
{
    /// <summary>
    /// Applies a committed entry of kind <see cref="EntryKind.Operations"/>. A replica that cannot read an entry that others may have applied throws,
    /// which ends its node. Requests and entries are read before they enter the log, so no stranger can cause that.
    /// </summary>
    /// <exception cref="InvalidDataException">The content is malformed, or of a later version; nothing has changed.</exception>
    void Apply(ulong index, ReadOnlySpan<byte> content);

    void Save(IBufferWriter<byte> into);

    /// <summary>Begins to read a saved state; the current state stays until the reading has finished.</summary>
    IRestore BeginRestore();
}
