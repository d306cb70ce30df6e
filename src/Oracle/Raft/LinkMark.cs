namespace Oracle.Raft;

/// <summary>A place in the stream of one link: the link's number and the bytes before that place.</summary>
internal readonly record struct LinkMark(int Peer, long Position);
