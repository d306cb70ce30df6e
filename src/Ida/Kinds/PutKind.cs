using Ida.Shared;
using Ida.Wire;

namespace Ida.Kinds;

/// <summary>
/// A put: it changes keys, each by its effect, at one place in the order, once. The result of a key is its version; a report
/// (<see cref="PutReportCodec"/>) follows the results of a shard.
/// </summary>
internal sealed class PutKind() : OperationKind(1, changes: true)
{
    public override void WriteHead(ref BodyWriter to, ulong payload) => to.U64(payload);

    public override ulong ReadHead(ref BodyReader from) => from.U64();

    public override bool IsWhole(in AttemptId key, ulong payload, bool single, int slots) => !single && payload != 0 && (key.Payload == 0 || key.Payload == payload);

    public override void WriteDeed(ref BodyWriter to, in KeyDeed deed, ReadOnlySpan<byte> incoming) => deed.Write(ref to, incoming);

    public override bool TryReadDeed(ref BodyReader from, out KeyDeed deed, out ReadOnlySpan<byte> incoming) =>
        KeyDeed.TryRead(ref from, out deed, out incoming) && deed.Effect != KeyEffect.Read;

    public override int SizeOfResult(byte[]? value) => 10;

    public override void WriteResult(ref BodyWriter to, byte[]? value, ulong version) => to.Var(version);

    public override ulong ReadResult(ref BodyReader from, ref byte[]? value) => from.Var();

    public override void SkipResults(ref BodyReader from, int keys)
    {
        for (int i = 0; i < keys && !from.Failed; i++) _ = from.Var();
        if (keys > 0) PutReportCodec.Skip(ref from, keys);
    }

    public override int SizeOfReport(PutReport? report) => PutReportCodec.SizeOf(report);

    public override void WriteReport(ref BodyWriter to, PutReport? report) => PutReportCodec.Write(ref to, report);

    public override PutReport? ReadReport(ref BodyReader from, int keys) => PutReportCodec.Read(ref from, keys);

    public override string ToString() => "put";
}
