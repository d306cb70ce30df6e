namespace Ida.Coordination;

/// <summary>How far an attempt is that this member drives.</summary>
internal enum AttemptPhase
{
    /// <summary>Participants are asked; it has no time yet.</summary>
    Asked,

    /// <summary>It has its time, which never changes.</summary>
    Committed,

    /// <summary>It can never commit: all participants are told to reject it, and its call ends when they have.</summary>
    Aborting,
}
