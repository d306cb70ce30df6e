using System.Runtime.InteropServices;

namespace Ida;

/// <summary>Enumerates a caller's collection; allocates no enumerator for an array or a list.</summary>
internal ref struct Elements<T>
{
    private readonly ReadOnlySpan<T> _span;
    private readonly IEnumerator<T>? _other;
    private int _at = -1;

    public Elements(IEnumerable<T> of)
    {
        if (of is T[] array) _span = array;
        else if (of.GetType() == typeof(List<T>)) _span = CollectionsMarshal.AsSpan((List<T>)of);
        else _other = of.GetEnumerator();
    }

    public readonly T Current => _other is null ? _span[_at] : _other.Current;

    public readonly Elements<T> GetEnumerator() => this;

    public bool MoveNext() => _other is null ? ++_at < _span.Length : _other.MoveNext();

    public readonly void Dispose() => _other?.Dispose();
}
