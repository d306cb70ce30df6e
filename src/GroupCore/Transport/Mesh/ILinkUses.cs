namespace GroupCore.Transport.Mesh;

/// <summary>A view of the links, for diagnosis.</summary>
internal interface ILinkUses
{
    /// <summary>The links that are not over, including those to strangers. Inside a turn only.</summary>
    IEnumerable<LinkUse> Uses { get; }

    /// <summary>How many such links there are. From any thread.</summary>
    int Live { get; }

    /// <summary>Bytes of the slabs that connections, links and the encoding of frames hold. From any thread.</summary>
    long SlabBytes { get; }
}
