using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>
/// The data path allocates nothing per message: not at the sender nor at the receivers of a group of three that runs on one thread. What remains is the rare growth of a pool,
/// below one byte per message.
/// </summary>
[Collection(Alone)]
public sealed class AllocationTests(ITestOutputHelper output)
{
    public const string Alone = "allocation of groups";
    private const int Batches = 400;

    [Theory]
    [InlineData(1)]
    [InlineData(32)]
    public void A_multicast_allocates_nothing(int batch)
    {
        var world = new LoopbackGroup();
        var payload = new ReadOnlyMemory<byte>(new byte[100]);
        Check(world, "Send", batch, 3, member => Finish(member.Group.SendAsync("bytes", payload)));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(32)]
    public void An_ordered_multicast_allocates_nothing(int batch)
    {
        var world = new LoopbackGroup();
        var payload = new ReadOnlyMemory<byte>(new byte[100]);
        Check(world, "OrderedSend", batch, 3, member => world.Await(member.Group.OrderedSendAsync("bytes", payload)));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(32)]
    public void A_message_to_one_member_allocates_nothing(int batch)
    {
        var world = new LoopbackGroup();
        var payload = new ReadOnlyMemory<byte>(new byte[100]);
        int to = 0;
        Check(world, "SendTo", batch, 1, member => world.Await(member.Group.SendToAsync(to++ % 3, "bytes", payload)));
    }

    [Theory]
    [InlineData(60_000)]
    [InlineData(200_000)]
    public void A_large_multicast_allocates_less_than_a_hundredth_of_its_bytes(int bytes)
    {
        var world = new LoopbackGroup();
        var payload = new ReadOnlyMemory<byte>(new byte[bytes]);
        Check(world, $"OrderedSend of {bytes} B", 2, 3, member => world.Await(member.Group.OrderedSendAsync("bytes", payload)), most: bytes / 100.0);
    }

    [Fact]
    public void A_typed_multicast_allocates_its_value_at_most()
    {
        var world = new LoopbackGroup();
        Check(world, "Send of a number", 32, 3, member => Finish(member.Group.SendAsync("number", 17L)));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(32)]
    public void A_query_allocates_at_its_caller_only(int batch)
    {
        var world = new LoopbackGroup();
        var asked = new List<Task<IReadOnlyList<MemberReply<int>>>>(batch);
        var caller = world.Members[0];
        Ask();
        double all = double.MaxValue;
        double[] others = [double.MaxValue, double.MaxValue];
        for (int run = 0; run < 3; run++)
        {
            long[] before = [.. world.Members.Select(m => m.Allocated)];
            all = Math.Min(all, Ask());
            for (int i = 0; i < 2; i++) others[i] = Math.Min(others[i], (world.Members[i + 1].Allocated - before[i + 1]) / (double)Batches / batch);
        }
        output.WriteLine($"Query, {batch} each turn: {all:0.00} B per query with its three answers, {others[0]:0.00} and {others[1]:0.00} B at those who answer");
        Assert.All(others, bytes => Assert.InRange(bytes, 0, 0.99));
        // Measured 1,528: the caller's task and list of answers, the table entry and the bytes of the answers until the caller's worker reads them.
        Assert.InRange(all, 0, 1_700);

        double Ask()
        {
            long start = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < Batches; i++)
            {
                for (int k = 0; k < batch; k++) asked.Add(caller.Group.QueryAsync<int, int>("ask", 17).AsTask());
                world.Run();
                foreach (var answers in asked)
                    if (answers.Result.Count != 3) throw new InvalidOperationException();
                asked.Clear();
            }
            return (GC.GetAllocatedBytesForCurrentThread() - start) / (double)Batches / batch;
        }
    }

    private static void Finish(ValueTask sent)
    {
        Assert.True(sent.IsCompletedSuccessfully);
        sent.GetAwaiter().GetResult();
    }

    private void Check(LoopbackGroup world, string what, int batch, int deliveries, Action<LoopbackNode> send, double most = 0.99)
    {
        Measure(world, batch, send);
        long before = world.Delivered;
        double bytes = double.MaxValue;
        // The least of a few runs, since the runtime allocates for itself now and then.
        for (int run = 0; run < 3; run++) bytes = Math.Min(bytes, Measure(world, batch, send));
        Assert.Equal(3L * Batches * batch * 3 * deliveries, world.Delivered - before);
        output.WriteLine($"{what}, {batch} each turn: {bytes:0.00} B per message");
        Assert.InRange(bytes, 0, most);
    }

    /// <summary>Bytes allocated per message: all members send, then turns until nothing happens.</summary>
    private static double Measure(LoopbackGroup world, int batch, Action<LoopbackNode> send)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < Batches; i++)
        {
            for (int k = 0; k < batch; k++)
                foreach (var member in world.Members) send(member);
            world.Run();
        }
        return (GC.GetAllocatedBytesForCurrentThread() - before) / (3.0 * Batches * batch);
    }
}
