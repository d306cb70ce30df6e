namespace Ida.Interleavings.Seams;

/// <summary>Interrupts that are kept for later: there are none here.</summary>
internal static class InterruptSeam
{
    public static void Take()
    {
    }
}
