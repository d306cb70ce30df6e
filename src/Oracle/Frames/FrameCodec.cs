using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.Raft;

namespace Oracle.Frames;

/// <summary>Reads the body of a frame by its type.</summary>
internal static class FrameCodec
{
    /// <summary>Reads a frame; false when the bytes are not one. Fields behind the known ones are skipped.</summary>
    public static bool TryRead(FrameType type, ReadOnlySpan<byte> body, out SystemId system, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out IFrame? frame)
    {
        frame = null;
        system = default;
        try
        {
            var reader = new MessagePackReader(body);
            int fields = reader.ReadArrayHeader();
            if (fields < 2) return false;
            system = new(reader.ReadUInt64(), reader.ReadUInt64());
            frame = Read(type, ref reader);
            return frame is not null && fields >= frame.Fields + 2;
        }
        catch (InvalidDataException)
        {
            return false;
        }
    }

    private static IFrame? Read(FrameType type, ref MessagePackReader reader) => type switch
    {
        FrameType.Ping => ProbeFrame.Parse(false, ref reader),
        FrameType.Pong => ProbeFrame.Parse(true, ref reader),
        FrameType.IndirectPing => IndirectProbeFrame.Parse(false, ref reader),
        FrameType.IndirectPong => IndirectProbeFrame.Parse(true, ref reader),
        FrameType.Propose => ProposeFrame.Parse(ref reader),
        FrameType.Install => InstallFrame.Parse(ref reader),
        FrameType.Sync => reader.ReadWithin(SyncAsk.Kind, SyncAnswer.Kind) == SyncAsk.Kind ? SyncAsk.Parse(ref reader) : SyncAnswer.Parse(ref reader),
        FrameType.Excluded => ExcludedFrame.Parse(ref reader),
        FrameType.PreVote => VoteRequest.Read(true, ref reader),
        FrameType.PreVoteReply => VoteReply.Read(true, ref reader),
        FrameType.Vote => VoteRequest.Read(false, ref reader),
        FrameType.VoteReply => VoteReply.Read(false, ref reader),
        FrameType.Append => AppendRequest.Parse(ref reader),
        FrameType.AppendReply => AppendReply.Parse(ref reader),
        FrameType.Snapshot => reader.ReadWithin(SnapshotChunk.Kind, SnapshotAck.Kind) == SnapshotChunk.Kind ? SnapshotChunk.Parse(ref reader) : SnapshotAck.Parse(ref reader),
        FrameType.TimeoutNow => TimeoutNow.Parse(ref reader),
        FrameType.OracleRequest => RequestFrame.Parse(ref reader),
        FrameType.OracleResponse => ResponseFrame.Parse(ref reader),
        FrameType.Lease => reader.ReadWithin(LeaseAsk.Kind, LeaseGrant.Kind) == LeaseAsk.Kind ? LeaseAsk.Parse(ref reader) : LeaseGrant.Parse(ref reader),
        FrameType.Suspect => SuspectFrame.Parse(ref reader),
        FrameType.WhoIsOracle => WhoIsOracle.Parse(ref reader),
        FrameType.OracleIs => OracleIs.Parse(ref reader),
        _ => null,
    };
}
