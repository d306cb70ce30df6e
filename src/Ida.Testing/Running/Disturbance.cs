namespace Ida.Testing;

/// <summary>Something a test did to a run: its number among those that the test asked for, and its name.</summary>
internal readonly record struct Disturbance(int Number, string What)
{
    public override string ToString() => $"#{Number} {What}";
}
