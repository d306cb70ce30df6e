using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups;

/// <summary>
/// What an <see cref="IGroupLayer"/> may do: send frames to members of the current view. Delivery is reliable and FIFO per pair within a view; the receiver drops
/// frames of a view that is over. When a link is lost with frames on it, another view is asked for, and no frame passes between the two members until then.
/// </summary>
internal interface IGroupPort
{
    /// <summary>The node: time, timers, randomness, completions.</summary>
    INode Node { get; }

    /// <summary>The current view, null before the first.</summary>
    View? View { get; }

    /// <summary>This member's rank in the current view.</summary>
    int Rank { get; }

    /// <summary>This process.</summary>
    ProcessId Self { get; }

    /// <summary>Whether a view change is under way.</summary>
    bool Wedged { get; }

    /// <summary>Whether no view without this process can be in force at this instant; where the group is not StrictPrimary, only whether it is a member and not blocked.</summary>
    bool HoldsLease { get; }

    /// <summary>
    /// Bytes of bulk that may be sent to another member now. One frame may go while it is above 0; otherwise <see cref="IGroupLayer.OnRoom"/> tells when.
    /// There is no room for a member that is not <see cref="IsHere"/> yet.
    /// </summary>
    long Room(int rank);

    /// <summary>
    /// Whether a member is known to have installed the current view; <see cref="IGroupLayer.OnRoom"/> tells when it has. Until then the member has to store what it is
    /// sent, and has little memory for that.
    /// </summary>
    bool IsHere(int rank);

    /// <summary>
    /// Room for the body of one frame of at most <paramref name="size"/> bytes, where frames of the whole node wait to be sent. Filled by the caller and given to one
    /// <c>Send</c>, or left, before anything else is sent.
    /// </summary>
    Span<byte> Reserve(int size);

    /// <summary>Sends the first <paramref name="length"/> reserved bytes to one other member.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The type is not one of the layer's.</exception>
    void Send(int rank, FrameType type, int length);

    /// <summary>Sends the first <paramref name="length"/> reserved bytes to several other members.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The type is not one of the layer's.</exception>
    void Send(ReadOnlySpan<int> ranks, FrameType type, int length);

    /// <summary>Asks for a view with the same members, to agree on something at that view change.</summary>
    void RequestView();

    /// <summary>Lets this member leave if <see cref="IGroupLayer.OnLeaving"/> has kept it, or is still running; does nothing otherwise.</summary>
    void Leave();

    /// <summary>Suspects a member of holding this one up, until the view is over.</summary>
    void Suspect(int rank, Suspicion evidence);
}
