namespace GroupCore.Wire.Contracts;

/// <inheritdoc/>
internal sealed class Holder<T> : Holder
{
    private readonly T? _initial;

    public Holder(T? initial) => Value = _initial = initial;

    /// <summary>A field, since generated code loads it.</summary>
    public T? Value;

    public override object? Boxed => Value;

    public override void Clear()
    {
        Seen = false;
        Value = _initial;
    }
}
