using Ida.Shared;
using Ida.Wire;

namespace Ida.Kinds;

/// <summary>A get: it reads keys at one place in the order. The result of a key is its version and value.</summary>
internal sealed class GetKind() : OperationKind(0, changes: false)
{
    public override void WriteHead(ref BodyWriter to, ulong payload)
    {
    }

    public override ulong ReadHead(ref BodyReader from) => 0;

    public override bool IsWhole(in AttemptId key, ulong payload, bool single, int slots) => key.Payload == 0 && (!single || slots == 1);

    public override void WriteDeed(ref BodyWriter to, in KeyDeed deed, ReadOnlySpan<byte> incoming)
    {
    }

    public override bool TryReadDeed(ref BodyReader from, out KeyDeed deed, out ReadOnlySpan<byte> incoming)
    {
        deed = new(KeyEffect.Read);
        incoming = default;
        return true;
    }

    public override int SizeOfResult(byte[]? value) => 20 + (value?.Length ?? 0);

    public override void WriteResult(ref BodyWriter to, byte[]? value, ulong version) => Write(ref to, value, version);

    /// <summary>Version var, whether there is a value u8, the value.</summary>
    public static void Write(ref BodyWriter to, byte[]? value, ulong version)
    {
        to.Var(version);
        to.U8(value is null ? (byte)0 : (byte)1);
        if (value is not null) to.Blob(value);
    }

    public override ulong ReadResult(ref BodyReader from, ref byte[]? value)
    {
        ulong version = from.Var();
        value = from.U8() != 0 ? from.Blob(DhtLimits.ValueBytes).ToArray() : null;
        return version;
    }

    public override void SkipResults(ref BodyReader from, int keys)
    {
        for (int i = 0; i < keys && !from.Failed; i++)
        {
            _ = from.Var();
            if (from.U8() != 0) _ = from.Blob(DhtLimits.ValueBytes);
        }
    }

    public override int SizeOfReport(PutReport? report) => 0;

    public override void WriteReport(ref BodyWriter to, PutReport? report)
    {
    }

    public override PutReport? ReadReport(ref BodyReader from, int keys) => null;

    public override string ToString() => "get";
}
