namespace Ida.Interleavings.Scenarios;

/// <summary>When a loop stops.</summary>
internal enum TurnsEnd
{
    /// <summary>When all calls have ended.</summary>
    AtLast,

    AtAnyTime,

    /// <summary>By a turn that throws.</summary>
    ByFault,
}
