using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>What a misuse must be answered with, at once.</summary>
internal static class Expect
{
    public static T Throws<T>(Action misuse) where T : Exception
    {
        try
        {
            misuse();
        }
        catch (T refused)
        {
            return refused;
        }
        throw new ScenarioFailedException($"A misuse that {typeof(T).Name} answers was taken.");
    }

    /// <summary>A call is refused at once, with that very error, which the guide's table names as what such a call is refused with.</summary>
    public static void Refuses<T>(CallTable table, CallKind kind, Action misuse) where T : Exception
    {
        var refused = Throws<T>(misuse);
        if (refused.GetType() != typeof(T)) throw new ScenarioFailedException($"A misuse of {kind} that {typeof(T).Name} answers was answered with {refused}");
        if (CallErrors.MeaningOf(kind, refused) != ErrorMeaning.Misuse) throw new ScenarioFailedException($"{kind} is refused with what the guide does not say of it: {refused}");
        table.Refused(kind, refused.GetType());
    }
}
