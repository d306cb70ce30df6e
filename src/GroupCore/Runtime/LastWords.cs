namespace GroupCore.Runtime;

/// <summary>What a process says before it ends. What the text is made of may be the user's code, and nobody may read what is written: it ends all the same.</summary>
internal static class LastWords
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(1);

    /// <summary>Writes to standard error, for at most a second.</summary>
    public static void Say(Exception reason)
    {
        try
        {
#pragma warning disable RS0030 // No thread of a node. Not on the pool, all threads of which the user's code may hold.
            var saying = new Thread(() => Write(reason)) { IsBackground = true };
            saying.Start();
#pragma warning restore RS0030
            saying.Join(Limit);
        }
        catch (Exception)
        {
            // No thread, or no memory.
        }
    }

    private static void Write(Exception reason)
    {
        try
        {
            Console.Error.WriteLine(UserError.Whole(reason));
        }
        catch (Exception)
        {
            // The writer may be the user's, or the disk behind it full. On a thread of its own it would end the process in another way.
        }
    }
}
