namespace Ida.Interleavings.Seams;

/// <summary>Late interrupts: there are none here.</summary>
internal static class InterruptSeam
{
    public static void Take()
    {
    }
}
