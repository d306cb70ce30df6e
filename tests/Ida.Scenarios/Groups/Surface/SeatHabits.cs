using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>What a member does at view changes.</summary>
internal enum HookHabit
{
    None, Done, Late, Never, Throws, Sends, SendsBeside, Awaits, AwaitsAndThrows,
}

/// <summary>How careless the user code of one membership is.</summary>
internal sealed record SeatHabits(HookHabit Hook, TimeSpan HookTime, bool Odd, bool ViewThrows, bool ErrorThrows, bool SaveThrows, bool LoadThrows, bool LeavesThread)
{
    public static SeatHabits Draw(Prng random, Ingredients drawn, bool first)
    {
        var hook = random.Chance(0.6) ? HookHabit.None : (HookHabit)(1 + random.Next(8));
        var habits = new SeatHabits(hook, TimeSpan.FromMilliseconds(random.Next(1_900)), random.Chance(0.8), random.Chance(0.1), random.Chance(0.1), !first && random.Chance(0.08), !first && random.Chance(0.08), random.Chance(0.2));
        if (!habits.Odd) drawn.Draw(GroupNames.Unhandled);
        if (habits.ViewThrows) drawn.Draw(GroupNames.ViewThrows);
        return habits;
    }
}
