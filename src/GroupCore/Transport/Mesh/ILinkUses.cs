namespace GroupCore.Transport.Mesh;

/// <summary>Links that can be looked at, for diagnosis.</summary>
internal interface ILinkUses
{
    /// <summary>The links that are not over, those to strangers too. Inside a turn only.</summary>
    IEnumerable<LinkUse> Uses { get; }

    /// <summary>How many that are. From any thread.</summary>
    int Live { get; }

    /// <summary>Bytes of the slabs that connections, links and the encoding of frames hold. From any thread.</summary>
    long SlabBytes { get; }
}
