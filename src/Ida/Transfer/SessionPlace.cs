namespace Ida.Transfer;

/// <summary>How much of a cut of the sessions was written: all sessions before this one, and its outcomes below a number.</summary>
internal readonly record struct SessionPlace(int Session, int Written, ulong Next);
