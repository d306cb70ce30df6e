using GroupCore.Groups;
using GroupCore.Wire;

namespace Ida.Wire;

/// <summary>Frame types of the DHT (dht-order.md#messages, dht-view-change.md#messages). All carry the group slot and view in their header. Locked by the wire-contract test.</summary>
internal static class DhtFrame
{
    /// <summary>The DHT as a layer, with types to spare.</summary>
    public static LayerFrames Layer { get; } = new("dht", Propose, 32);

    public const FrameType Propose = (FrameType)192;
    public const FrameType Proposed = (FrameType)193;
    public const FrameType Commit = (FrameType)194;
    public const FrameType Quiescent = (FrameType)195;
    public const FrameType Stable = (FrameType)196;
    public const FrameType Executed = (FrameType)197;
    public const FrameType Abort = (FrameType)198;
    public const FrameType Aborted = (FrameType)199;
    public const FrameType Rejected = (FrameType)200;
    public const FrameType Get = (FrameType)201;
    public const FrameType Value = (FrameType)202;
    public const FrameType Recover = (FrameType)203;
    public const FrameType NotHeld = (FrameType)204;
    public const FrameType Forward = (FrameType)205;
    public const FrameType Settle = (FrameType)206;
    public const FrameType Ready = (FrameType)207;
    public const FrameType Pull = (FrameType)208;
    public const FrameType Chunk = (FrameType)209;
    public const FrameType ChunkAck = (FrameType)210;
    public const FrameType StateEnd = (FrameType)211;
    public const FrameType Fetch = (FrameType)212;
    public const FrameType Fetched = (FrameType)213;

    /// <summary>Asks the member of a session how one of its puts ended, and its answer.</summary>
    public const FrameType AskEnd = (FrameType)214;
    public const FrameType End = (FrameType)215;
}
