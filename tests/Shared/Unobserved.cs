using System.Runtime.CompilerServices;
using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Tests.Shared;

/// <summary>Tasks with errors that nobody observes.</summary>
internal static class Unobserved
{
    /// <summary>Makes a call whose task ends with the given error after its caller has gone: the process must hear of no unobserved error.</summary>
    public static void AssertNone(Func<INode, Exception, Task> call)
    {
        var unobserved = new List<string>();
        string marker = Guid.NewGuid().ToString();
        EventHandler<UnobservedTaskExceptionEventArgs> note = (_, args) =>
        {
            // Other tests run in parallel.
            if (args.Exception.ToString().Contains(marker, StringComparison.Ordinal)) unobserved.Add(args.Exception.ToString());
        };
        TaskScheduler.UnobservedTaskException += note;
        try
        {
            Fail(call, marker);
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        finally
        {
            TaskScheduler.UnobservedTaskException -= note;
        }
        Assert.Empty(unobserved);
    }

    /// <summary>A method of its own, so that nothing holds the task any more.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Fail(Func<INode, Exception, Task> call, string marker)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var node = simulation.AddNode();
        var task = call(node.Node, new InvalidOperationException(marker));
        Assert.True(simulation.RunUntil(() => task.IsCompleted, TimeSpan.FromSeconds(1)));
        Assert.Equal(TaskStatus.Faulted, task.Status);
    }
}
