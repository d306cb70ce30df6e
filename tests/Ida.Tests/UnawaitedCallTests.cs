using System.Runtime.CompilerServices;

namespace Ida.Tests;

/// <summary>A call that nobody awaits is let go when it has ended, like one that was awaited.</summary>
public sealed class UnawaitedCallTests
{
    private const int Calls = 1_000;

    [Fact]
    public async Task R_a_token_does_not_hold_the_calls_that_nobody_awaited()
    {
        var world = DhtWorld.Founded(4);
        using var token = new CancellationTokenSource();
        var left = Begin(world, token.Token);
        world.Settle();
        Collect();
        Assert.Equal(0, left.Count(static one => one.IsAlive));
        // Where a call is awaited, the token ends the wait as ever.
        var last = world.Members[0].Dht.Map<string, byte[]>("bytes").PutAsync("a1", new byte[10], cancellationToken: token.Token).AsTask();
        world.Poke();
        await token.CancelAsync();
        world.Poke();
        await Assert.ThrowsAsync<OutcomeUnknownException>(() => last);
        world.Settle();
    }

#pragma warning disable CA2012 // The misuse is what is tested.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static List<WeakReference> Begin(DhtWorld world, CancellationToken token)
    {
        var member = world.Members[0];
        var map = member.Dht.Map<string, byte[]>("bytes");
        for (int i = 0; i < Calls; i++) _ = map.PutAsync($"{(char)('a' + (i % 26))}{i % 10}", new byte[1_000], cancellationToken: token);
        world.Poke();
        var calls = member.Host.Current!.Coordinator.Standing().Select(static one => new WeakReference(one.Op)).ToList();
        Assert.Equal(Calls, calls.Count);
        return calls;
    }
#pragma warning restore CA2012

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
    }
}
