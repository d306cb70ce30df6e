// A program that is trimmed: TrimmedTests compares its output with that of the untrimmed program. Its types have members that it never uses itself.
using System.Buffers;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Ida;

await using var node = await IdaNode.StartAsync(new() { Cluster = "trimmed" });
var ordered = new TaskCompletionSource<Order>();
var group = await node.JoinAsync("shop", g => g
    .Handle<Order>("order", (from, order) => ordered.SetResult(order))
    .Handle<Lists>("lists", (from, lists) => { })
    .Handle<Outer>("outer", (from, outer) => { })
    .OnQuery<Question, Answer>("count", (from, question) => new Answer(3)));
await group.OrderedSendAsync("order", new Order { What = "apples" });
Show("order", await ordered.Task);
var answers = await group.QueryAsync<Question, Answer>("count", new Question());
Show("answer", answers[0].Value);

var dht = await group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 1 }, d => d.Map<Place, Stock>("stock").OnMerge<Delivery>((place, stock, more) => new Stock()).ShardBy(place => place.Name));
var stock = dht.Map<Place, Stock>("stock");
await stock.PutAsync(new Place("north", 1), new Stock());
await stock.MergeAsync(new Place("south", 2), new Delivery());
var entry = await stock.GetAsync(new Place("north", 1));
Show("stock", entry.Value);
Show("delivery", new Delivery());
Console.WriteLine($"keys {string.Join(' ', (await dht.SnapshotAsync()).Entries.Select(held => Convert.ToHexString(held.Key.Span)).Order())}");
Show("lists", new Lists());
Show("inside", new Outer());

static void Show<T>(string what, T value)
{
    try
    {
        var bytes = new ArrayBufferWriter<byte>();
        ContractSerializer.Instance.Serialize(bytes, value);
        Console.WriteLine($"{what} {Convert.ToHexString(bytes.WrittenSpan)}");
    }
    catch (ContractException refused)
    {
        Console.WriteLine($"{what} {refused.Message}");
    }
}

public sealed class Order
{
    public string What { get; init; } = "";

    public string Remark { get; init; } = "none";

    public int Count = 7;
}

public sealed record Question(string Of = "apples");

public sealed record Answer(int Count, string Unit = "pieces");

public readonly record struct Place(string Name, int Row);

public sealed record Stock(int Count = 5, string Unit = "boxes");

public sealed record Delivery
{
    public DateOnly On { get; set; } = new(2026, 11, 29);
}

public sealed class Lists
{
    public List<int> Numbers { get; set; } = [1, 2];

    public Dictionary<string, long[]> Table { get; set; } = new() { ["a"] = [3] };

    public (int, Guid?) Pair { get; set; } = (4, null);

    public DayOfWeek Day { get; set; } = DayOfWeek.Friday;
}

public sealed class Outer
{
    public Inner Inside { get; set; } = new();
}

// Nobody registers this type.
public sealed class Inner
{
    public string Unused { get; set; } = "lost where trimmed";
}
