namespace Ida.Interleavings.Seams;

/// <summary>The control whose rule is left out just now; the weaver takes all controls from Controls.txt.</summary>
internal static partial class Omitted
{
    public static string? Current { get; set; }

    public static bool Is(string name) => Current == name;
}
