using GroupCore.Runtime;

namespace Ida.Chaos.Members;

/// <summary>What loggers and listeners of a member do when they are called: now and then they throw, or keep their thread. Thread-safe.</summary>
internal sealed class UnrulyCode(Prng random)
{
    private const int Dice = 1_000, Throws = 50, Keeps = 5;
    private readonly Lock _lock = new();

    /// <summary>Throws, keeps the thread for up to <paramref name="longestMs"/>, or most often does nothing.</summary>
    public void Act(int longestMs)
    {
        int drawn, time;
        lock (_lock) (drawn, time) = (random.Next(Dice), random.Next(longestMs));
        if (drawn < Throws) throw new FormatException("User code that throws.");
        if (drawn < Throws + Keeps) Thread.Sleep(time);
    }
}
