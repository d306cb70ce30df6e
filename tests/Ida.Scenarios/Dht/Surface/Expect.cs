namespace Ida.Scenarios;

/// <summary>What a misuse must be answered with, at once.</summary>
internal static class Expect
{
    public static void Throws<T>(Action misuse) where T : Exception
    {
        try
        {
            misuse();
        }
        catch (T)
        {
            return;
        }
        throw new ScenarioFailedException($"A misuse that {typeof(T).Name} answers was taken.");
    }
}
