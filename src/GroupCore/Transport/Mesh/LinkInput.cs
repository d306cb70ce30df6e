namespace GroupCore.Transport.Mesh;

/// <summary>How a session took what it was given.</summary>
internal enum LinkInput
{
    /// <summary>All complete frames were taken.</summary>
    Taken,

    /// <summary>The bytes are not a stream of frames within the limits: the connection must end.</summary>
    Malformed,

    /// <summary>Bytes are missing before these: over a connection it must end and resume; over datagrams the session asks for them itself.</summary>
    Gap,

    /// <summary>The session was closed by a frame's handler.</summary>
    Closed,
}
