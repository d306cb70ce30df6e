using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Tests.Groups;

namespace GroupCore.Tests.Runtime;

/// <summary>A turn with very many completions leaves nothing of that size behind.</summary>
[Collection(AllocationTests.Alone)]
public sealed class BurstMemoryTests : IHostPort
{
    private const int Many = 1 << 20;
    private readonly ICompletion _nothing = new ActionCompletion(static () => { });

    [Fact]
    public void A_batch_keeps_no_place_for_a_burst()
    {
        var pool = new CompletionBatchPool(static _ => { }, static () => { });
        long before = Held();
        Burst(pool);
        Assert.InRange(Held() - before, long.MinValue, 1 << 20);
        GC.KeepAlive(pool);
    }

    [Fact]
    public void A_node_keeps_no_place_for_a_burst()
    {
        var node = new Node(1, 1, this, static _ => null!, 4);
        long before = Held();
        for (int i = 0; i < Many; i++) node.Complete(_nothing);
        node.Release();
        Assert.InRange(Held() - before, long.MinValue, 1 << 20);
        GC.KeepAlive(node);
    }

    // A method of its own, so that nothing holds the list any more.
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private void Burst(CompletionBatchPool pool)
    {
        var batch = pool.Rent();
        batch.Take([.. Enumerable.Repeat(_nothing, Many)]);
        batch.RunHere();
    }

    private static long Held()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return GC.GetTotalMemory(forceFullCollection: true);
    }

    long IHostPort.Clock() => 0;

    void IHostPort.Wake()
    {
    }

    void IHostPort.RunCompletions(List<ICompletion> completions)
    {
    }

    void IHostPort.Resume(ICompletion work)
    {
    }
}
