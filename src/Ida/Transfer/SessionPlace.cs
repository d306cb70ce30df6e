namespace Ida.Transfer;

/// <summary>How much of a cut of the sessions was written: the sessions before, and of this one what lies below a number.</summary>
internal readonly record struct SessionPlace(int Session, int Written, ulong Next);
