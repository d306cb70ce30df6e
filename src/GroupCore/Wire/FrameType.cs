namespace GroupCore.Wire;

/// <summary>
/// Frame types (links.md#messages and the chapters of the protocols that send them). The wire-contract test locks them: a number is never reused for
/// another purpose.
/// </summary>
internal enum FrameType : byte
{
    /// <summary>No frame.</summary>
    None = 0,

    // 1-15: the link itself, slots and probes
    /// <summary>The dialler says who it is: cluster, version, node id, address.</summary>
    Hello = 1,

    /// <summary>The acceptor says who it is, and where the link resumes.</summary>
    HelloAck = 2,

    /// <summary>Starts a gathered write: the stream offset of what follows, and how much was received.</summary>
    Segment = 3,

    /// <summary>Names the group and view behind a slot number.</summary>
    Bind = 4,

    /// <summary>Liveness probe.</summary>
    Ping = 5,

    /// <summary>Its answer.</summary>
    Pong = 6,

    /// <summary>Asks the receiver to probe a third node, or asks for an introduction.</summary>
    IndirectPing = 7,

    /// <summary>The third node has answered.</summary>
    IndirectPong = 8,

    // 16-31: multicast
    /// <summary>Multicast messages of one sender.</summary>
    Data = 16,

    /// <summary>Positions in the total order.</summary>
    Order = 18,

    /// <summary>What is closed at its sender: received, with all that it depends on.</summary>
    Ack = 19,

    // 32-47: point to point
    /// <summary>Message to one member.</summary>
    Peer = 32,

    /// <summary>A <see cref="Peer"/> message is handled, and so is all that its handler sent.</summary>
    PeerAck = 33,

    /// <summary>Answer to a query.</summary>
    Reply = 34,

    // 48-63: view change
    /// <summary>Next membership, proposed.</summary>
    Propose = 48,

    /// <summary>Next view, decided.</summary>
    Install = 49,

    /// <summary>What a member has received in the old view.</summary>
    Report = 50,

    /// <summary>What all members deliver of the old view.</summary>
    Cut = 51,

    /// <summary>Asks for messages of the cut.</summary>
    Pull = 52,

    /// <summary>Messages of the cut.</summary>
    Forward = 53,

    /// <summary>A member holds the whole cut and all contributions.</summary>
    FlushAck = 54,

    /// <summary>What its sender knows of its groups; the answer is what the sender lacks.</summary>
    Sync = 55,

    /// <summary>The receiver was excluded.</summary>
    Excluded = 56,

    /// <summary>What one member's layer contributed to a view change.</summary>
    CutPart = 57,

    /// <summary>Why a member has not acknowledged a flush that takes long, and the members that it misses.</summary>
    FlushWait = 58,

    // 64-79: Oracle
    /// <summary>Would you vote for me?</summary>
    PreVote = 64,

    /// <summary>Answer.</summary>
    PreVoteReply = 65,

    /// <summary>Vote for me.</summary>
    Vote = 66,

    /// <summary>Answer.</summary>
    VoteReply = 67,

    /// <summary>Log entries or a heartbeat.</summary>
    Append = 68,

    /// <summary>Answer.</summary>
    AppendReply = 69,

    /// <summary>A part of the saved state for a replica far behind, or the answer to one.</summary>
    Snapshot = 70,

    /// <summary>Be elected leader at once.</summary>
    TimeoutNow = 71,

    /// <summary>Request to the Oracle.</summary>
    OracleRequest = 72,

    /// <summary>Its answer.</summary>
    OracleResponse = 73,

    /// <summary>Membership lease, asked or granted.</summary>
    Lease = 74,

    /// <summary>Suspicion of a process, or its withdrawal.</summary>
    Suspect = 75,

    /// <summary>Who is the Oracle?</summary>
    WhoIsOracle = 76,

    /// <summary>Answer to <see cref="WhoIsOracle"/>.</summary>
    OracleIs = 77,

    // 80-95: state transfer of groups
    /// <summary>A checkpoint begins.</summary>
    StateOpen = 80,

    /// <summary>Part of a checkpoint.</summary>
    StateChunk = 81,

    /// <summary>Credit for more.</summary>
    StateAck = 82,

    /// <summary>The checkpoint is whole.</summary>
    StateEnd = 83,

    /// <summary>Says that the giver of a state is alive, and how far it is.</summary>
    StateSign = 84,

    /// <summary>First type of layers above groups (DHT); these frames are all tagged with group slot and view.</summary>
    FirstLayer = 192,

    /// <summary>Last type of layers above groups.</summary>
    LastLayer = 254,
}
