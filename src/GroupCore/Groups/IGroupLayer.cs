using System.Buffers;
using GroupCore.Diagnostics;
using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Groups;

/// <summary>
/// A protocol above a group (such as the DHT), with a name and frame types of its own (<see cref="LayerFrames"/>). It exchanges frames with members inside a view and
/// agrees on something at every view change. All calls are made inside turns.
/// Source: views-and-flush.md#contributions-are-frozen-and-complete, dht-view-change.md#contributions-are-frozen-and-equal-for-all.
/// </summary>
/// <remarks>
/// Agreement: when a view change begins each survivor and leaver is <see cref="OnWedged">wedged</see> and gives a
/// <see cref="Contribute">contribution</see>, which is frozen until the next view is installed. The contributions travel with the flush
/// reports, the flush leader hands all of them to all with the cut, and a member acknowledges the flush only when it holds them all. So
/// every member that installs the next view has the same contributions, whichever members die meanwhile, and a decision computed from them
/// by a pure function is agreed without a message of its own.
/// </remarks>
internal interface IGroupLayer
{
    /// <summary>
    /// A view change begins, or begins again with a proposal that supersedes the one before: from now until <see cref="OnInstalled"/>
    /// nothing may be answered, proposed or executed, and no frame is delivered.
    /// </summary>
    void OnWedged(Proposal proposal);

    /// <summary>Writes the contribution; called once between <see cref="OnWedged"/> and <see cref="OnInstalled"/>. At most 900 KiB.</summary>
    void Contribute(IBufferWriter<byte> into);

    /// <summary>
    /// The next view, and what survivors and leavers contributed, in rank order of the old view (without entries for members that did
    /// not have this layer attached). Called with no contributions for the view that is current when the layer is attached.
    /// </summary>
    void OnInstalled(View view, IReadOnlyList<LayerContribution> contributions);

    /// <summary>A frame of the current view from one of its members: none comes while this member is wedged, and none of another view. Untrusted content.</summary>
    void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body);

    /// <summary>The process lost or regained contact with the primary partition: while blocked, nothing may be answered.</summary>
    void OnBlocked(bool blocked);

    /// <summary>
    /// This member is asked to leave the group. True lets it go at once. False keeps it a member until the layer calls
    /// <see cref="IGroupPort.Leave"/>, which it must do in bounded time: the layer can first hand over what only this member holds.
    /// </summary>
    bool OnLeaving() => true;

    /// <summary>A member for which the layer found no <see cref="IGroupPort.Room"/> has room again.</summary>
    void OnRoom(int rank)
    {
    }

    /// <summary>The end of each turn; what is sent here leaves with this turn.</summary>
    void EndOfTurn();

    /// <summary>The group is over for this process (left, ended, excluded): everything that waits has to end with <paramref name="reason"/>.</summary>
    void OnOver(Exception reason);

    /// <summary>Describes the layer for a person; inside a turn.</summary>
    internal void Describe(Description text)
    {
    }

    /// <summary>Checks for what lasts too long; called inside a turn, once a second if there is a logger.</summary>
    internal void Look(long now)
    {
    }
}
