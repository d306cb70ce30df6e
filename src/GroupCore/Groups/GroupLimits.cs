namespace GroupCore.Groups;

/// <summary>Limits and periods of the group layer; sources: views-and-flush.md#limits, multicast.md#limits, state-transfer.md#limits.</summary>
internal static class GroupLimits
{
    public const int GroupsPerProcess = 4_096;
    public const int Members = 2_048;

    /// <summary>Slots that a peer may have bound beyond one for each group that this process is in or joins: some may still belong to earlier groups.</summary>
    public const int SpareBindings = 64;

    /// <summary>Longest name of a group, in bytes of UTF-8.</summary>
    public const int NameBytes = 128;

    public const int Handlers = 1_024;

    /// <summary>Largest message of a user, in bytes.</summary>
    public const int MessageBytes = 64 << 20;

    /// <summary>Payload of one fragment of a large multicast, in bytes.</summary>
    public const int FragmentBytes = (64 << 10) - 16;

    /// <summary>Largest body of a point-to-point message or of a reply: it travels in one frame.</summary>
    public const int PeerBytes = (1 << 20) - 64;

    /// <summary>What one sender may have unstable in a view, in units of <see cref="Cost"/>: 4 MB, and so at most 4,096 messages, as each costs at least 1 KB.</summary>
    public const long Window = 4L << 20;

    /// <summary>Calls, one message each, that may wait for the window before a call is refused.</summary>
    public const int QueuedCalls = 65_536;

    /// <summary>Bytes of waiting calls before a call is refused.</summary>
    public const long QueuedBytes = 128L << 20;

    /// <summary>The part of these bytes that each group has for itself, and the step in which it takes more from what the node may hold.</summary>
    public const long QueuedBlock = 1L << 20;

    /// <summary>The part of these calls and bytes that may wait for one receiver.</summary>
    public const int ReceiverCalls = 8_192;
    public const long ReceiverBytes = 16L << 20;

    /// <summary>
    /// What the handlers of one member may have under way to one receiver, from the call until the message is handled there. The window does not apply: a message that the
    /// receiver has not handled may be waiting for these. A handler that would send more is refused: if it waited, two handlers that send to each other might wait for ever.
    /// </summary>
    public const int HandlersCalls = QueuedCalls / 2;
    public const long HandlersBytes = QueuedBytes / 2;

    /// <summary>Most that a receiver stores of one sender: room for its window, and for a second one that others have acknowledged without this member knowing it yet.</summary>
    public const int StoredMessages = 16_384;
    public const long StoredBytes = 16L << 20;

    /// <summary>Stored messages and bytes of a sender at which a receiver stops acknowledging it.</summary>
    public const int AckStopMessages = 8_192;
    public const long AckStopBytes = 8L << 20;

    /// <summary>Positions of the order that are not stable at which the sequencer pauses, so that a report fits into one frame.</summary>
    public const int OrderPositions = 32_768;

    /// <summary>
    /// Unstable positions that a receiver takes. A report of that many, with all its points and all members, fits into a frame:
    /// 6 * 131,072 + 10 * (16,384 + 2,048) + 8 * 2,048 and a head are 964 of 1,024 KiB. A cut has at most <see cref="OrderPositions"/> more than its leader knows.
    /// </summary>
    public const int ReportPositions = 4 * OrderPositions;

    /// <summary>Length of one dispatcher's queue at which acknowledgements stop.</summary>
    public const int DispatchEvents = 16_384;
    public const long DispatchBytes = 8L << 20;

    /// <summary>
    /// What may wait for the handlers of a member at the beginning of a view, in units of <see cref="Cost"/>: each view brings a window of each sender, whatever the
    /// handlers do. If more waits and the handlers handled nothing in the previous view, the member leaves, unless it is one of the first <see cref="HoldersThatStay"/>
    /// with the state.
    /// </summary>
    public const long HandlerBacklogBytes = 512L << 20;

    /// <summary>How long the handlers must have handled nothing before such a member leaves: a single view may last only milliseconds.</summary>
    public const long StuckNanoseconds = 10_000_000_000;

    /// <summary>How many of the members that hold the state stay, whatever waits for them.</summary>
    public const int HoldersThatStay = 2;

    /// <summary>
    /// Records of one sender, or positions of the order, after which the sender, or the sequencer, asks for another view with the same members;
    /// after half as many again it waits for that view (multicast.md#numbers-of-a-view-never-run-out). All numbers of a view stay below 2^31.
    /// </summary>
    public const uint ViewRecords = 1U << 30;

    /// <summary>How long a group must be idle before it releases memory that grew.</summary>
    public const long IdleNanoseconds = 5_000_000_000;

    public const int AckMessages = 64;
    public const long AckBytes = 256 << 10;
    public const long AckNanoseconds = 10_000_000;

    /// <summary>Bytes kept of one member's frames for a view or proposal to come: the member's two windows, and as much again for a protocol above.</summary>
    public const long EarlyBytesOfMember = 16L << 20;
    public const long EarlyLeastBytes = 64L << 20;
    public const long EarlyMostBytes = 512L << 20;

    /// <summary>How often a member in a flush looks for members that it misses; a silent one is suspected after one or a few such steps.</summary>
    public const long FlushStepNanoseconds = 1_000_000_000;

    /// <summary>How long a member's word that user code holds it up counts: within that time it must say so again.</summary>
    public const long FlushSilenceNanoseconds = 2_500_000_000;
    public const long HookNanoseconds = 2_000_000_000;
    public const long FlushRetryNanoseconds = 200_000_000;

    /// <summary>How long after its load a member waits before it asks for a view that says that it is initialised.</summary>
    public const long InitialisedNanoseconds = 50_000_000;

    /// <summary>At most how much longer that member waits for others that still load.</summary>
    public const long LoadTogetherNanoseconds = 5_000_000_000;

    /// <summary>Most layers of a process.</summary>
    public const int Layers = 4;

    public const int ContributionBytes = 900 << 10;

    public const int ReportPoints = 16_384;
    public const int ForwardBytes = 256 << 10;

    /// <summary>With its header it fits a slab of 256 KiB.</summary>
    public const int StateChunkBytes = 255 << 10;

    public const int StateWindow = 8;

    /// <summary>Silence of the giver after which a joiner asks for a view, and with it for a new checkpoint.</summary>
    public const long StateStallNanoseconds = 5_000_000_000;

    /// <summary>How often a giver tells joiners that it is alive.</summary>
    public const long StateSignNanoseconds = 1_000_000_000;

    /// <summary>How much one turn delivers of the messages held during the load.</summary>
    public const int CatchUpMessages = 4_096;
    public const long CatchUpBytes = 4L << 20;

    /// <summary>How long in a view the others believe a member that has the state when it says that its handlers are catching up with the messages it held.</summary>
    public const long CatchUpNanoseconds = 300_000_000_000;

    /// <summary>Point-to-point messages of one member to another that are not handled yet.</summary>
    public const int PeerOutstanding = 4_096;
    public const long PeerOutstandingBytes = 4L << 20;

    /// <summary>
    /// What a receiver takes of one member without having acknowledged it: 1 KB for each message, and its bytes. An honest member has at most 4,096 messages (4 MB)
    /// of its window and 32,768 messages (64 MB) of handlers under way, and the message that fills the window.
    /// </summary>
    public const int PeerUnhandled = ((PeerOutstanding + HandlersCalls) * PeerMessage) + (int)(PeerOutstandingBytes + HandlersBytes) + PeerBytes;
    public const int PeerMessage = 1 << 10;

    public const int Queries = 65_536;

    /// <summary>
    /// Bytes of answers, with their overhead, that all open queries of a group may hold at a member while they wait for others; a query that alone holds answers may hold more.
    /// </summary>
    public const long AnswerBytes = 128L << 20;

    /// <summary>Bytes that a member of a view keeps of frames that come before their time: for a view or proposal that is not known here yet.</summary>
    public static long EarlyBytesOf(int members) => Math.Clamp(members * EarlyBytesOfMember, EarlyLeastBytes, EarlyMostBytes);

    /// <summary>What a message takes of a window: its bytes, but at least 1 KB, so that one number bounds both bytes and messages.</summary>
    public static long Cost(int bytes) => Math.Max(1_024, bytes);
}
