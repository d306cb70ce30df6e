namespace Ida.Interleavings.Scheduling;

/// <summary>Decides what a schedule leaves open.</summary>
internal abstract class Strategy
{
    /// <summary>Which of the lanes goes on; <paramref name="current"/> is the index of the one that runs, −1 if it cannot or need not go on.</summary>
    public abstract int Next(List<Lane> lanes, int current);

    /// <summary>A lane found nothing to do.</summary>
    public abstract void OnYield(Lane lane);

    /// <summary>Whether the others see a write later than it is made.</summary>
    public abstract bool IsLate();

    /// <summary>Whether a late write is seen now.</summary>
    public abstract bool IsSeen();

    /// <summary>Whether a wait with a limit may be over now, though others can go on.</summary>
    public abstract bool IsOver();

    /// <summary>Whether something that may happen at any time happens now.</summary>
    public abstract bool Happens(int oneIn);

    /// <summary>A number below <paramref name="bound"/>, for what a scenario leaves open.</summary>
    public abstract int Draw(int bound);
}
