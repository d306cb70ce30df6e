namespace Ida.Testing;

/// <summary>What has become of the process that made a call.</summary>
internal enum CallerLife
{
    /// <summary>It lives.</summary>
    GoesOn,

    /// <summary>Its node has ended, but not by a crash: whoever waits for a call is told.</summary>
    Over,

    /// <summary>It has crashed: nobody will ever hear how its calls end.</summary>
    Lost,
}
