namespace Ida.Interleavings.Seams;

/// <summary>A field that threads share. The others may see a write to it late.</summary>
internal struct Shared<T>(T initial)
{
    private Cell<T>? _cell;
    private readonly T _initial = initial;

    public Cell<T> Cell => _cell ??= new(_initial);

    public Cell<T> At(string what, [System.Runtime.CompilerServices.CallerFilePath] string file = "", [System.Runtime.CompilerServices.CallerLineNumber] int line = 0) => Cell.At(new(what, file, line));

    public static implicit operator Shared<T>(T initial) => new(initial);
}
