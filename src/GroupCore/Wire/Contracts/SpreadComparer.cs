using System.Runtime.CompilerServices;
using GroupCore.Basics;

namespace GroupCore.Wire.Contracts;

/// <summary>
/// The usual equality, with hashes that a sender of keys cannot foresee. The usual hashes of numbers and times follow from the value: a message of 256 KiB could put
/// all of its keys into one chain, and then took seconds to read. Only for collections whose order does not follow from hashes, since it must be the same at all replicas.
/// </summary>
internal sealed class SpreadComparer<T> : IEqualityComparer<T>
{
    private static readonly ulong s_low = Entropy.Next(), s_high = Entropy.Next() | 1, s_mix = Entropy.Next() | 1;

    /// <summary>The comparer for numbers, times and the like; null for other types, which have their own hashes.</summary>
    public static SpreadComparer<T>? Instance { get; } = IsChosen ? new() : null;

    private static bool IsChosen =>
        typeof(T) == typeof(int) || typeof(T) == typeof(uint) || typeof(T) == typeof(long) || typeof(T) == typeof(ulong) || typeof(T) == typeof(Int128) || typeof(T) == typeof(UInt128)
        || typeof(T) == typeof(float) || typeof(T) == typeof(double) || typeof(T) == typeof(DateTime) || typeof(T) == typeof(DateTimeOffset) || typeof(T) == typeof(TimeSpan)
        || typeof(T) == typeof(DateOnly) || typeof(T) == typeof(TimeOnly) || typeof(T) == typeof(Guid) || (typeof(T).IsEnum && Unsafe.SizeOf<T>() >= sizeof(uint));

    public bool Equals(T? x, T? y) => EqualityComparer<T>.Default.Equals(x, y);

    public int GetHashCode(T value)
    {
        ulong low, high = 0;
        // Equal values of these types may have different bits.
        if (typeof(T) == typeof(float)) low = BitsOf((float)(object)value!);
        else if (typeof(T) == typeof(double)) low = BitsOf((double)(object)value!);
        else if (typeof(T) == typeof(DateTime)) low = (ulong)((DateTime)(object)value!).Ticks;
        else if (typeof(T) == typeof(DateTimeOffset)) low = (ulong)((DateTimeOffset)(object)value!).UtcTicks;
        else if (Unsafe.SizeOf<T>() == sizeof(uint)) low = Unsafe.As<T, uint>(ref value);
        else
        {
            low = Unsafe.ReadUnaligned<ulong>(ref Unsafe.As<T, byte>(ref value));
            if (Unsafe.SizeOf<T>() == 2 * sizeof(ulong)) high = Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref Unsafe.As<T, byte>(ref value), sizeof(ulong)));
        }
        ulong upper = Math.BigMul(low ^ s_low, s_high, out ulong lower);
        upper = Math.BigMul(upper ^ lower ^ high, s_mix, out lower);
        return (int)((upper ^ lower) >> 16);
    }

    private static ulong BitsOf(double value) => double.IsNaN(value) ? ulong.MaxValue : BitConverter.DoubleToUInt64Bits(value == 0 ? 0 : value);
}
