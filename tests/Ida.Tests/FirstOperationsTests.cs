
namespace Ida.Tests;

public sealed class FirstOperationsTests
{
    [Fact]
    public async Task The_first_page_puts_two_keys_atomically_and_reads_them_on_one_cut()
    {
        var world = DhtWorld.Founded(4);
        var stock = world.Members[0].Dht.Map<string, int>("ints");
        var put = stock.PutAsync([new("apples", 3), new("pear", 5)]).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        Assert.Equal(2, (await put).Versions.Count);
        foreach (var member in world.Members)
        {
            var map = member.Dht.Map<string, int>("ints");
            var get = map.GetAsync(["apples", "pear", "none"]).AsTask();
            world.RunUntil(() => get.IsCompleted, "The read");
            var both = await get;
            Assert.Equal(2, both.Count);
            Assert.Equal(3, both["apples"]);
            Assert.Equal((await put).Versions[1], both.VersionOf("pear"));
            var one = map.GetAsync("apples").AsTask();
            world.RunUntil(() => one.IsCompleted, "The read of one key");
            Assert.Equal(3, (await one).Value);
        }
        world.Settle();
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(world.Members[2]).Digest);
        Assert.Equal(DhtWorld.Slice(world.Members[1]).Digest, DhtWorld.Slice(world.Members[3]).Digest);
    }
}
