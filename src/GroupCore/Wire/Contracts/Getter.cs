namespace GroupCore.Wire.Contracts;

/// <summary>Gets a member's value.</summary>
internal delegate TMember Getter<TOwner, TMember>(ref TOwner owner);
