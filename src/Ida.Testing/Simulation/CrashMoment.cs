namespace Ida.Testing;

/// <summary>When a node crashes, relative to a frame that it is sending.</summary>
internal enum CrashMoment
{
    /// <summary>It lives on.</summary>
    None,

    /// <summary>Nobody gets the frame.</summary>
    Before,

    /// <summary>Half of the receivers of a frame to several get it.</summary>
    Amid,

    /// <summary>All receivers get it.</summary>
    After,
}
