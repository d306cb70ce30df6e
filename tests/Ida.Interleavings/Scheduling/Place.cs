namespace Ida.Interleavings.Scheduling;

/// <summary>A point in the code.</summary>
internal readonly record struct Place(string What, string File, int Line)
{
    public override string ToString() => Line == 0 ? What : $"{Path.GetFileName(File)}:{Line} {What}";
}
