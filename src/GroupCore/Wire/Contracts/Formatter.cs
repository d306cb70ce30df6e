namespace GroupCore.Wire.Contracts;

/// <summary>Writes and reads the values of one type. Built once per type, without state afterwards, used from any thread.</summary>
internal abstract class Formatter
{
    /// <summary>The type of the values.</summary>
    public abstract Type Type { get; }

    /// <summary>Why values of this type cannot be part of a key, as the rest of a sentence that starts with the type; null when they can.</summary>
    public virtual string? NoKey => null;

    /// <summary>Whether a value holds no values of other formatters.</summary>
    public virtual bool IsLeaf => false;

    /// <summary>Gets the formatters of the parts; called once this formatter is registered, so that types may contain themselves.</summary>
    public virtual void Complete(IFormatterSource source)
    {
    }

    /// <summary>The parts, with their names for error messages (".Name", "[]").</summary>
    public virtual IEnumerable<(string Name, Formatter Part)> Parts => [];
}
