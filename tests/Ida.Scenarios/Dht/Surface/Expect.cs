using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>Demands that a misuse is refused at once, and with which error.</summary>
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

    /// <summary>Demands that a call is refused at once with exactly this error, and that the guide's table names it as a refusal of such a call.</summary>
    public static void Refuses<T>(CallTable table, CallKind kind, Action misuse) where T : Exception
    {
        var refused = Throws<T>(misuse);
        if (refused.GetType() != typeof(T)) throw new ScenarioFailedException($"A misuse of {kind} that {typeof(T).Name} answers was answered with {refused}");
        if (CallErrors.MeaningOf(kind, refused) != ErrorMeaning.Misuse) throw new ScenarioFailedException($"{kind} is refused with what the guide does not say of it: {refused}");
        table.Refused(kind, refused.GetType());
    }
}
