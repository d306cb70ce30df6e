namespace GroupCore.Wire.Contracts;

/// <summary>Sets a member's value.</summary>
internal delegate void Setter<TOwner, TMember>(ref TOwner owner, TMember value);
