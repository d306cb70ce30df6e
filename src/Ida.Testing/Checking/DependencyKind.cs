namespace Ida.Testing.Checking;

/// <summary>Why one operation comes before another.</summary>
internal enum DependencyKind : byte
{
    /// <summary>Leaves an auxiliary node.</summary>
    Through,

    /// <summary>Wrote the older value of a key.</summary>
    WriteWrite,

    /// <summary>Wrote what the other read.</summary>
    WriteRead,

    /// <summary>Read an older value than the other wrote.</summary>
    ReadWrite,

    /// <summary>Completed before the other was invoked.</summary>
    RealTime,
}
