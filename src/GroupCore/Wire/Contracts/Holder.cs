namespace GroupCore.Wire.Contracts;

/// <summary>Holds the value of one member, unboxed, until the constructor that takes it can be called.</summary>
internal abstract class Holder
{
    /// <summary>Whether a value was read.</summary>
    public bool Seen { get; set; }

    /// <summary>Goes back to the value that a member has if the message lacks it.</summary>
    public abstract void Clear();

    /// <summary>The value, boxed; used only where no code can be generated.</summary>
    public abstract object? Boxed { get; }
}
