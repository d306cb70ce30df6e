using System.Runtime.CompilerServices;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>A <see cref="Thread"/>: a lane of the schedule.</summary>
internal sealed class ThreadSeam(Action body)
{
    public bool IsBackground { get; init; }

    public string Name { get; init; } = "";

    public void UnsafeStart() => Lane.Current!.Schedule.Start(Name, body);

    public static void Yield([CallerFilePath] string file = "", [CallerLineNumber] int line = 0) => Explored.Yield("yield", file, line);
}
