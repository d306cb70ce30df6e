namespace Ida.Interleavings.Scheduling;

/// <summary>One of the threads of a schedule. One lane runs at a time; the others stand at a point.</summary>
internal sealed class Lane(Schedule schedule, int number, string name, Action body, Worker worker)
{
    [ThreadStatic]
    private static Lane? t_current;

    /// <summary>The lane of the calling thread; null outside of schedules.</summary>
    public static Lane? Current => t_current;

    public Schedule Schedule => schedule;

    public int Number => number;

    public string Name => name;

    public Worker Worker => worker;

    /// <summary>What it waits for; null when it can go on.</summary>
    public Func<bool>? Until { get; set; }

    /// <summary>Until when it waits, by the clock of the schedule.</summary>
    public long Due { get; set; } = long.MaxValue;

    /// <summary>Its wait ended because its time was over.</summary>
    public bool IsLate { get; set; }

    /// <summary>It has nothing to do until another lane has done something.</summary>
    public bool Yields { get; set; }

    /// <summary>It serves the others: the schedule ends without it.</summary>
    public bool Serves { get; set; }

    public bool IsOver { get; private set; }

    /// <summary>What it wrote that the others do not see yet, in order.</summary>
    public Queue<Action> Late { get; } = new();

    /// <summary>Where it stands.</summary>
    public Place At { get; set; }

    public void Run()
    {
        t_current = this;
        try
        {
            body();
        }
        catch (Exception error)
        {
            schedule.Fail($"{name} threw {error}");
        }
        schedule.Settle(this);
        IsOver = true;
        t_current = null;
        schedule.GoOn(this);
    }
}
