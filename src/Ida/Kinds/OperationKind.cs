using Ida.Shared;
using Ida.Wire;

namespace Ida.Kinds;

/// <summary>
/// What an operation is, for coordinators and participants alike. Each kind has a file: with its bytes in proposals and answers, and what must hold for them.
/// </summary>
/// <remarks>
/// Order, stability, view changes and recovery ask <see cref="Changes"/> only. What a kind does to entries is the effect that it has on each key.
/// </remarks>
/// <param name="number">One bit, on the wire.</param>
/// <param name="changes"><see cref="Changes"/>.</param>
internal abstract class OperationKind(byte number, bool changes)
{
    public static readonly OperationKind Get = new GetKind(), Put = new PutKind();

    public byte Number => number;

    /// <summary>
    /// Whether it changes entries. If so, all members of its shards take part, it conflicts with every operation on its keys, a view change decides about it, and its outcome is
    /// remembered: it is executed once. Otherwise one member of each shard takes part, it conflicts only with changes, and a view change forgets it.
    /// </summary>
    public readonly bool Changes = changes;

    public static OperationKind Of(bool changes) => changes ? Put : Get;

    public static OperationKind Of(int number) => Of((number & 1) != 0);

    /// <summary>Writes what the head of its proposals has beside what all proposals have.</summary>
    public abstract void WriteHead(ref BodyWriter to, ulong payload);

    /// <summary>Reads the payload from the head. Untrusted.</summary>
    public abstract ulong ReadHead(ref BodyReader from);

    /// <summary>Whether a proposal may have this head.</summary>
    public abstract bool IsWhole(in AttemptId key, ulong payload, bool single, int slots);

    /// <summary>Writes what is done to a key, and the value that is brought for it.</summary>
    public abstract void WriteDeed(ref BodyWriter to, in KeyDeed deed, ReadOnlySpan<byte> incoming);

    /// <summary>Reads what is done to a key; false if a proposal of this kind cannot have it. Untrusted.</summary>
    public abstract bool TryReadDeed(ref BodyReader from, out KeyDeed deed, out ReadOnlySpan<byte> incoming);

    /// <summary>Bytes of the result of a key, at most.</summary>
    public abstract int SizeOfResult(byte[]? value);

    /// <summary>Writes what is told of a key.</summary>
    public abstract void WriteResult(ref BodyWriter to, byte[]? value, ulong version);

    /// <summary>Reads the version of a key, and for a get also its value. Untrusted.</summary>
    public abstract ulong ReadResult(ref BodyReader from, ref byte[]? value);

    /// <summary>Skips the results of this many keys of a shard, and what follows them.</summary>
    public abstract void SkipResults(ref BodyReader from, int keys);

    /// <summary>Bytes of the report, at most.</summary>
    public abstract int SizeOfReport(PutReport? report);

    /// <summary>Writes what is told of the keys of a shard together, after their results.</summary>
    public abstract void WriteReport(ref BodyWriter to, PutReport? report);

    /// <summary>Reads what <see cref="WriteReport"/> has written. Untrusted.</summary>
    public abstract PutReport? ReadReport(ref BodyReader from, int keys);

    public abstract override string ToString();
}
