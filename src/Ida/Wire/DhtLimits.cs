namespace Ida.Wire;

/// <summary>Sizes that bound frames and memory.</summary>
internal static class DhtLimits
{
    /// <summary>Largest serialized key, with the 8 bytes that name its map.</summary>
    public const int KeyBytes = 4096;

    /// <summary>Largest serialized value.</summary>
    public const int ValueBytes = 256 * 1024;

    /// <summary>Largest part of one operation for one shard, and of its answer: a frame with its header stays below 1 MiB.</summary>
    public const int PartBytes = 900 * 1024;

    /// <summary>Bytes that a key counts in a part beyond its own bytes and those of its value.</summary>
    public const int KeyCost = 20;

    /// <summary>Most keys of one operation.</summary>
    public const int Keys = 4096;

    /// <summary>A chunk of state ends with the entry that takes it to this size: with small entries and its header it fits a slab of 256 KiB.</summary>
    public const int ChunkBytes = 255 * 1024;

    /// <summary>Chunks up to this size cost no credit; there are at most 256 of them.</summary>
    public const int FreeChunkBytes = 1024;

    /// <summary>Chunks on the way from one source to one newcomer.</summary>
    public const int ChunkCredit = 4;

    /// <summary>Bytes of UTF-8 that the name of a map may have.</summary>
    public const int MapName = 256;

    /// <summary>Most maps that a member may declare, and most resolvers of one of them.</summary>
    public const int Maps = 1024, Resolvers = 256;

    /// <summary>Most bytes of all that a member declares, in a contribution.</summary>
    public const int DeclarationBytes = 48 * 1024;

    /// <summary>Longest text of a resolver's error that is kept.</summary>
    public const int ErrorChars = 200;

    /// <summary>Cuts an error's text to the length that is kept.</summary>
    public static string Cut(string error) => ErrorText.Cut(error, ErrorChars);

    /// <summary>Bytes that a member without its state may keep for puts that it cannot apply before a value at the view change arrives.</summary>
    public const long LateBytes = 64L << 20;

    /// <summary>Keys in one question for single values at the view change.</summary>
    public const int FetchedKeys = 128;

    /// <summary>Bytes of unsettled operations that a contribution may carry.</summary>
    public const int ContributionBytes = 800 * 1024;

    /// <summary>Number of outcomes that a member remembers of puts whose callers were told "unknown", and their bytes.</summary>
    public const int KnownEnds = 65_536;

    public const long KnownEndBytes = 16L << 20;

    /// <summary>For how many more puts of a member replicas remember the outcome of one whose id was taken beforehand; fewer than <see cref="OpenPuts"/>.</summary>
    public const int TakenIds = 65_536;

    /// <summary>
    /// Most puts of a member since its oldest unfinished one: replicas remember the outcomes of the puts in between, at some 100 bytes for a put
    /// of one key. <see cref="DhtMemberOptions.MaxOutcomeBytes"/> bounds their bytes separately.
    /// </summary>
    public const ulong OpenPuts = 1 << 18;
}
