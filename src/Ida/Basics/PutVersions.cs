using System.Collections;
using System.Runtime.CompilerServices;

namespace Ida;

/// <summary>The versions that a put gave, in the order of its call. Up to four are stored in the struct itself, so a small put allocates nothing.</summary>
public readonly struct PutVersions : IReadOnlyList<ulong>, IEquatable<PutVersions>
{
    internal const int Inline = 4;
    private readonly InlineVersions _few;
    private readonly ulong[]? _many;

    internal PutVersions(ReadOnlySpan<ulong> versions)
    {
        Count = versions.Length;
        if (Count <= Inline) versions.CopyTo(_few);
        else _many = versions.ToArray();
    }

    /// <summary>How many there are; 0 when they are not known.</summary>
    public int Count { get; }

    /// <summary>The version of one pair of the call.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no such pair.</exception>
    public ulong this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)index, (uint)Count, nameof(index));
            return _many is null ? _few[index] : _many[index];
        }
    }

    /// <summary>Whether both hold the same versions.</summary>
    public static bool operator ==(PutVersions left, PutVersions right) => left.Equals(right);

    /// <summary>Whether they differ.</summary>
    public static bool operator !=(PutVersions left, PutVersions right) => !left.Equals(right);

    /// <summary>The versions one after the other.</summary>
    public IEnumerator<ulong> GetEnumerator()
    {
        for (int i = 0; i < Count; i++) yield return this[i];
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <inheritdoc/>
    public bool Equals(PutVersions other)
    {
        if (Count != other.Count) return false;
        for (int i = 0; i < Count; i++)
            if (this[i] != other[i]) return false;
        return true;
    }

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is PutVersions other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => Count == 0 ? 0 : unchecked((int)(this[0] ^ this[Count - 1])) + Count;

    [InlineArray(Inline)]
    private struct InlineVersions
    {
        private ulong _first;
    }
}
