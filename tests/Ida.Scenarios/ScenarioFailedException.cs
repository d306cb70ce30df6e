namespace Ida.Scenarios;

/// <summary>A guarantee was broken in a schedule.</summary>
internal sealed class ScenarioFailedException(string violation) : Exception(violation)
{
    public static void ThrowIf(string? violation)
    {
        if (violation is not null) throw new ScenarioFailedException(violation);
    }
}
