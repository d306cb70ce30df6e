namespace Ida.Tests;

/// <summary>Calls of a world that are run to their end.</summary>
internal static class WorldCalls
{
    /// <summary>The result of a call, or its error.</summary>
    public static Task<T> EndAsync<T>(this DhtWorld world, ValueTask<T> call) => EndAsync(world, call.AsTask());

    public static async Task<T> EndAsync<T>(this DhtWorld world, Task<T> call)
    {
        GoOnInPlace();
        world.RunUntil(() => call.IsCompleted, "The call");
        return await call;
    }

    /// <summary>Code that awaits a call goes on in the turn that ends the call, and not on the pool, as it would in a test runner's context: until the end of the asynchronous method
    /// that says so.</summary>
    public static void GoOnInPlace() => SynchronizationContext.SetSynchronizationContext(null);

    /// <summary>Everything has been told, and no member has any work left.</summary>
    public static void AssertIdle(this DhtWorld world)
    {
        world.Settle();
        Assert.All(world.Members, static member => Assert.False(member.InView && member.Host.Current!.Coordinator.HasWork));
        Assert.All(world.Members, static member => Assert.Equal(0, member.Dht.Counters.ForbiddenSteps));
    }

    /// <summary>The members of each shard hold the same.</summary>
    public static void AssertEqualReplicas(this DhtWorld world)
    {
        for (int shard = 0; shard < 2; shard++)
        {
            var initialised = world.Initialised(shard);
            Assert.All(initialised, one => Assert.Null(DhtWorld.Difference(initialised[0], one)));
        }
    }
}
