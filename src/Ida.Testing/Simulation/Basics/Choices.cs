namespace Ida.Testing;

/// <summary>
/// Schedule choices of one actor (a direction of a link, a node): splitmix64. Each actor has its own, apart from those of protocols, so leaving out a fault elsewhere changes
/// as little as possible of the rest of a run. That is what makes shrinking work.
/// </summary>
internal struct Choices(ulong seed)
{
    private ulong _state = seed;

    public ulong Next()
    {
        ulong z = _state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    /// <summary>Uniform in 0 … <paramref name="bound"/>; a bound of 0 draws nothing.</summary>
    public long UpTo(long bound) => bound <= 0 ? 0 : (long)Math.BigMul(Next(), (ulong)bound + 1, out _);

    public bool Chance(double probability) => probability > 0 && (Next() >> 11) * (1.0 / (1UL << 53)) < probability;

    /// <summary>A seed for an actor named by two words, the same on every machine.</summary>
    public static ulong Seed(ulong seed, ulong first, ulong second)
    {
        var mixer = new Choices(seed ^ (first * 0xD6E8FEB86659FD93));
        mixer._state = mixer.Next() ^ (second * 0xA0761D6478BD642F);
        return mixer.Next();
    }

    /// <summary>FNV-1a: string hash codes are random per process.</summary>
    public static ulong Hash(string text)
    {
        ulong hash = 0xCBF29CE484222325;
        foreach (char c in text) hash = (hash ^ c) * 0x100000001B3;
        return hash;
    }
}
