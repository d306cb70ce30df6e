using GroupCore.Basics;

namespace Ida.Tests;

/// <summary>The end of the DHT ends many calls: each caller gets an exception of its own, whose stack trace has nothing of the others.</summary>
public sealed class SharedErrorTests
{
    private const int Callers = 10_000;

    [Theory]
    [InlineData("get")]
    [InlineData("snapshot")]
    [InlineData("status")]
    public void Ten_thousand_callers_of_a_DHT_that_is_over_get_errors_that_do_not_grow(string kind)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = Callers } });
        var member = world.Members[0];
        var map = member.Dht.Map<string, int>("ints");
        var errors = new List<Exception>();
        world.Crash(world.Members[1]);
        world.Crash(world.Members[3]);
        if (kind == "status") world.ChangeView();
        for (int i = 0; i < Callers; i++) _ = WaitAsync();
        if (kind != "status") world.ChangeView();
        world.RunUntil(() => errors.Count == Callers, "The calls");
        Assert.All(errors, error => Assert.Equal(1, Assert.IsType<ShardDepopulatedException>(error).Shard));
        // Judged by characters, not by time: a shared exception has the frames of all callers that were told before.
        Assert.Equal(Callers, errors.Distinct(ReferenceEqualityComparer.Instance).Count());
        Assert.InRange(errors[^1].StackTrace!.Length, 1, 10_000);

        async Task WaitAsync()
        {
            try
            {
                await Call().ConfigureAwait(false);
            }
            catch (DhtException error)
            {
                errors.Add(error);
            }
        }

        Task Call() => kind switch
        {
            "get" => map.GetAsync("b1").AsTask(),
            "snapshot" => member.Dht.SnapshotAsync(TestContext.Current.CancellationToken),
            _ => member.Dht.StatusAsync(TestContext.Current.CancellationToken),
        };
    }

    [Fact]
    public void A_copy_says_the_same()
    {
        var cause = new InvalidOperationException("A cause.");
        Exception[] reasons =
        [
            new NotDhtMemberException("It is over.", cause), new ShardDepopulatedException(3, 17), new DhtConfigurationException("Other options."),
            new DhtNotFoundedException(2, 5, TimeSpan.FromSeconds(3)), new ViewUnavailableException("No view."),
        ];
        foreach (var reason in reasons)
        {
            var carried = Assert.IsAssignableFrom<DhtException>(reason);
            (carried.Shard, carried.Peer, carried.View, carried.QueueDepth) = (3, new(7, 8), 17, 5);
            var copy = ISharedError.ForCall(reason);
            var same = Assert.IsAssignableFrom<DhtException>(copy);
            Assert.Equal((carried.Shard, carried.Peer, carried.View, carried.QueueDepth), (same.Shard, same.Peer, same.View, same.QueueDepth));
            Assert.NotSame(reason, copy);
            Assert.Equal((reason.GetType(), reason.Message, reason.InnerException), (copy.GetType(), copy.Message, copy.InnerException));
        }
    }
}
