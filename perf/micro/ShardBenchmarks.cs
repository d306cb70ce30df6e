using BenchmarkDotNet.Attributes;
using GroupCore.Membership;
using GroupCore.Wire;
using Ida.Ordering;
using Ida.Placement;

namespace Ida.Perf.Micro;

/// <summary>From a key to the members that hold it, and to its entry at one of them.</summary>
[MemoryDiagnoser]
public class ShardBenchmarks
{
    private const int Keys = 100_000;
    private readonly EntryTable _entries = new();
    private readonly byte[][] _keys = new byte[Keys][];
    private ShardMap _map = null!;
    private int _next;

    [GlobalSetup]
    public void Setup()
    {
        const int Members = 12, Shards = 4;
        var members = Enumerable.Range(0, Members).Select(i => new ViewMember(new((ulong)i + 1, 1), new($"127.0.0.1:{i + 1}"), true, "")).ToList();
        var view = new View(default, "perf", 1, 1, new(), members, [], [], [], []);
        _map = new([.. members.Select(m => new SlotState(m.Id, Initialised: true))], Shards, view);
        for (int i = 0; i < Keys; i++)
        {
            _keys[i] = BitConverter.GetBytes((long)i);
            _entries.FindOrAdd(_keys[i], XxHash64.Hash(_keys[i]), 0).Value = new byte[100];
        }
    }

    [Benchmark]
    public ulong Hash() => XxHash64.Hash(_keys[Next()]);

    [Benchmark]
    public int RanksOfKey()
    {
        int sum = 0;
        foreach (int rank in _map.Ranks(_map.ShardOf(XxHash64.Hash(_keys[Next()])))) sum += rank;
        return sum;
    }

    [Benchmark]
    public object FindEntry()
    {
        byte[] key = _keys[Next()];
        return _entries.Find(key, XxHash64.Hash(key))!;
    }

    private int Next() => _next = (_next + 7919) % Keys;
}
