using Ida;

await using var node = await IdaNode.StartAsync(new() { Cluster = "demo", Seeds = args is [] ? ["127.0.0.1:7700"] : args });
var group = await node.JoinAsync("shop", g => g.Handle<string>("hello", (from, text) => Console.WriteLine($"{from}: {text}")));
await group.OrderedSendAsync("hello", "world");
Console.WriteLine("In the group. The table serves as soon as each of its two shards has a member: run this program in a second terminal.");
var dht = await group.EnableDhtAsync(new() { ShardSize = 2, TargetSize = 4 }, d => d.Map<string, int>("stock"));
var stock = dht.Map<string, int>("stock");
await stock.PutAsync([new("apples", 3), new("pears", 5)]);            // atomic across shards
var both = await stock.GetAsync(["apples", "pears"]);                 // one consistent cut
Console.WriteLine($"{both["apples"]} apples, {both["pears"]} pears");

Console.WriteLine("\"7 2\" puts 7 apples and 2 pears in one step; Enter reads; Ctrl-D ends.");
while (Console.ReadLine() is { } line)
{
    if (line.Split(' ') is [var left, var right] && int.TryParse(left, out int apples) && int.TryParse(right, out int pears))
        await stock.PutAsync([new("apples", apples), new("pears", pears)]);
    both = await stock.GetAsync(["apples", "pears"]);
    Console.WriteLine($"{both["apples"]} apples, {both["pears"]} pears");
}
