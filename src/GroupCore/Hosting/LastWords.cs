using GroupCore.Basics;

namespace GroupCore.Hosting;

/// <summary>Says why a process ends. The process must end even if user code that makes the text throws or blocks, or nobody reads the output.</summary>
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
            // No thread or no memory is left.
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
            // The writer may be the user's and throw, or its disk may be full. An exception that left this thread would end the process in another way.
        }
    }
}
