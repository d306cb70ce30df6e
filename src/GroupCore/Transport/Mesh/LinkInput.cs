namespace GroupCore.Transport.Mesh;

/// <summary>What a session did with the bytes that it was given.</summary>
internal enum LinkInput
{
    /// <summary>All complete frames were taken.</summary>
    Taken,

    /// <summary>The bytes are not a stream of frames within the limits: the connection must end.</summary>
    Malformed,

    /// <summary>Bytes before these are missing: a connection must end and resume; over datagrams the session itself asks for them.</summary>
    Gap,

    /// <summary>The session was closed by a frame's handler.</summary>
    Closed,
}
