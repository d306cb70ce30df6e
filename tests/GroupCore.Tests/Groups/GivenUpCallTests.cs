using System.Runtime.CompilerServices;
using GroupCore.Groups;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;
using Oracle;

namespace GroupCore.Tests.Groups;

/// <summary>A caller whose token has fired is gone. What its call ends with then is nobody's business, and no unobserved error of the process.</summary>
public sealed class GivenUpCallTests
{
    [Fact]
    public void A_join_that_fails_after_its_caller_has_gone_leaves_no_unobserved_error() => AssertObserved(static (node, reason) =>
    {
        var host = new GroupHost(node, new OracleMember(node, new()), new() { Serializer = ContractSerializer.Instance });
        var call = new JoinCall(host, "g", new GroupOptions(), null!);
        call.Abandon(reason);
        return call.Task;
    });

    [Fact]
    public void A_layer_that_is_not_attached_after_its_caller_has_gone_leaves_no_unobserved_error() => AssertObserved(static (node, reason) =>
    {
        var call = new LayerAttachment<IGroupLayer>(node, _ => throw reason);
        Assert.Null(call.Create(null!));
        return call.Task;
    });

    private static void AssertObserved(Func<INode, Exception, Task> call)
    {
        var unobserved = new List<string>();
        string marker = Guid.NewGuid().ToString();
        EventHandler<UnobservedTaskExceptionEventArgs> note = (_, args) =>
        {
            // Other tests run beside this one.
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

    /// <summary>In a frame of its own, so that nothing holds the task any more.</summary>
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
