using System.Numerics;

namespace GroupCore.Runtime;

/// <summary>xoshiro256** (Blackman, Vigna 2018), seeded by splitmix64: the same seed gives the same numbers on every machine.</summary>
public sealed class Prng
{
    private ulong _a, _b, _c, _d;

    /// <summary>A generator that repeats for the same seed.</summary>
    public Prng(ulong seed)
    {
        _a = Mix(ref seed);
        _b = Mix(ref seed);
        _c = Mix(ref seed);
        _d = Mix(ref seed);
    }

    /// <summary>64 random bits.</summary>
    public ulong NextUInt64()
    {
        ulong result = BitOperations.RotateLeft(_b * 5, 7) * 9, shifted = _b << 17;
        _c ^= _a;
        _d ^= _b;
        _b ^= _c;
        _a ^= _d;
        _c ^= shifted;
        _d = BitOperations.RotateLeft(_d, 45);
        return result;
    }

    /// <summary>Uniform in 0 … <paramref name="bound"/>−1; <paramref name="bound"/> is at least 1.</summary>
    public int Next(int bound)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(bound);
        return (int)Math.BigMul(NextUInt64(), (ulong)bound, out _);
    }

    /// <summary>Uniform in <paramref name="from"/> … <paramref name="to"/>, both included.</summary>
    public long Next(long from, long to)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(to, from);
        return from + (long)Math.BigMul(NextUInt64(), (ulong)(to - from) + 1, out _);
    }

    /// <summary>Uniform in [0, 1).</summary>
    public double NextDouble() => (NextUInt64() >> 11) * (1.0 / (1UL << 53));

    /// <summary>True with the given probability.</summary>
    public bool Chance(double probability) => NextDouble() < probability;

    /// <summary>A generator whose numbers are independent of this one's later numbers.</summary>
    public Prng Fork() => new(NextUInt64());

    private static ulong Mix(ref ulong state)
    {
        ulong z = state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
