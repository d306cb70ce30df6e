namespace Ida.Scenarios;

/// <summary>What is done to a well-formed frame.</summary>
internal enum Mutation
{
    /// <summary>Nothing: it comes at a wrong time, or from a wrong sender.</summary>
    None,

    /// <summary>The same frame several times.</summary>
    Replay,

    /// <summary>A bit is flipped.</summary>
    Flip,

    /// <summary>Cut short; its header says so.</summary>
    Cut,

    /// <summary>Bytes behind its end; its header says so.</summary>
    Longer,

    /// <summary>A number becomes 0, 1, the largest, the smallest, half of it, one more or one less.</summary>
    Field,

    /// <summary>A count or a length in the body says something else.</summary>
    Count,

    /// <summary>A value is replaced by very many nested arrays.</summary>
    Nest,

    /// <summary>An address becomes text that is no address, or a place that nobody can reach, or the receiver's own.</summary>
    Address,

    /// <summary>The id of a node or the name of the system becomes another's.</summary>
    Name,

    /// <summary>Slot or view of the header become those of others, old or to come.</summary>
    View,

    /// <summary>The body under another type.</summary>
    Type,

    /// <summary>Random bytes.</summary>
    Noise,

    /// <summary>The header's length or version is a lie, or the segment around it says so: the connection must end.</summary>
    Framing,
}
