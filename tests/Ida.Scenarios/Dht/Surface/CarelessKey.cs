namespace Ida.Scenarios;

/// <summary>A key that says itself where it lies, by code that is careless.</summary>
internal readonly record struct CarelessKey(string Name) : IShardKey<string>
{
    // A key knows no schedule, but each schedule has its own thread.
    [ThreadStatic]
    private static Func<string, string>? t_place;

    string IShardKey<string>.ShardKey => t_place!(Name);

    /// <summary>What places the keys of the schedule that this thread runs.</summary>
    public static void PlaceBy(Func<string, string> place) => t_place = place;
}
