using GroupCore.Basics;
using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>One event ends many calls: each caller is given an exception of its own, whose stack trace has no frames of the others.</summary>
public sealed class SharedErrorTests
{
    private const int Callers = 10_000;

    [Theory]
    [InlineData("ordered")]
    [InlineData("query")]
    [InlineData("flush")]
    public void Ten_thousand_callers_of_a_group_that_ends_get_errors_that_do_not_grow(string kind)
    {
        var gate = new TaskCompletionSource();
        using var cluster = new GroupCluster(81, 2, more: g => g
            .HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false))
            .OnQueryAsync<int, int>("never", (from, question) => new(new TaskCompletionSource<QueryAnswer<int>>().Task)));
        Assert.True(cluster.Settle());
        var group = cluster[0].Group!;
        var errors = new List<Exception>();
        cluster[1].SimNode.Pause(TimeSpan.FromMinutes(1));
        cluster.Simulation.After(TimeSpan.Zero, () =>
        {
            // A flush waits until the other member has this message.
            _ = group.SendAsync("hang", Array.Empty<byte>()).AsTask();
            for (int i = 0; i < Callers; i++) _ = WaitAsync(Call, errors);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Empty(errors);
        cluster[0].End();
        cluster[0].Membership.Exclude(cluster.Simulation.Random);
        Assert.True(cluster.Simulation.RunUntil(() => errors.Count == Callers, TimeSpan.FromSeconds(10)), $"{errors.Count} have ended.");
        Assert.All(errors, error => Assert.IsType<ExcludedException>(error));
        CheckTraces(errors);

        Task Call() => kind switch
        {
            "ordered" => group.OrderedSendAsync("hang", Array.Empty<byte>()).AsTask(),
            "query" => group.QueryAsync<int, int>("never", 1).AsTask(),
            _ => group.FlushAsync().AsTask(),
        };
    }

    [Fact]
    public void Ten_thousand_callers_that_wait_for_room_in_a_node_that_stops_get_errors_that_do_not_grow()
    {
        var line = new CommandLine(new(1));
        var errors = new List<Exception>();
        var command = new CallCommand(() => { });
        line.TryEnqueue(command);
        for (int i = 0; i < Callers; i++) _ = WaitAsync(() => line.Enter(command, default)!.Task, errors);
        foreach (var waiter in line.Stop(new NodeStoppedException("It stops."))) waiter.Run();
        Assert.Equal(Callers, errors.Count);
        CheckTraces(errors);
    }

    [Fact]
    public void A_copy_says_the_same()
    {
        var fault = new InvalidOperationException("A fault.");
        Exception[] reasons =
        [
            new NotMemberException("g", "it has left"), new ExcludedException("it was silent"), new GroupOverloadedException("g", 5), new NodeStoppedException("It stops.", fault), new NodeFaultedException(fault),
        ];
        foreach (var reason in reasons)
        {
            var copy = ISharedError.ForCall(reason);
            Assert.NotSame(reason, copy);
            Assert.Equal((reason.GetType(), reason.Message, reason.InnerException), (copy.GetType(), copy.Message, copy.InnerException));
        }
        Assert.Same(fault, ISharedError.ForCall(fault));
    }

    private static async Task WaitAsync(Func<Task> call, List<Exception> errors)
    {
        try
        {
            await call().ConfigureAwait(false);
        }
        catch (Exception error)
        {
            errors.Add(error);
        }
    }

    // Counts characters, not time: a shared exception has the stack frames of all callers told before.
    private static void CheckTraces(List<Exception> errors)
    {
        Assert.Equal(errors.Count, errors.Distinct(ReferenceEqualityComparer.Instance).Count());
        Assert.InRange(errors[^1].StackTrace!.Length, 1, 10_000);
    }
}
