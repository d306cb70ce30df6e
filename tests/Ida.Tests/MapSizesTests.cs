using System.Buffers.Binary;
using Ida.Ordering;

namespace Ida.Tests;

/// <summary>Entries and bytes of each map of a slice.</summary>
public sealed class MapSizesTests
{
    private readonly MapSizes _sizes = new();

    [Fact]
    public void Keys_and_values_count_for_their_map_and_its_name_does_not()
    {
        _sizes.Change(Key(1, 3), null, new byte[10]);
        _sizes.Change(Key(1, 4), null, new byte[20]);
        _sizes.Change(Key(2, 5), null, []);
        Assert.Equal(((2, 37), (1, 5)), (_sizes.Of(1), _sizes.Of(2)));
    }

    [Theory]
    [InlineData(10, 10, 1, 13)]
    [InlineData(10, 4, 1, 7)]
    [InlineData(4, 10, 1, 13)]
    [InlineData(10, null, 0, 0)]
    [InlineData(null, 0, 1, 3)]
    [InlineData(0, null, 0, 0)]
    [InlineData(null, null, 0, 0)]
    public void What_changes_is_what_counts(int? before, int? after, long entries, long bytes)
    {
        if (before is { } first) _sizes.Change(Key(1, 3), null, new byte[first]);
        _sizes.Change(Key(1, 3), before is { } was ? new byte[was] : null, after is { } now ? new byte[now] : null);
        Assert.Equal((entries, bytes), _sizes.Of(1));
    }

    [Fact]
    public void A_map_without_entries_takes_no_room()
    {
        _sizes.Change(Key(1, 3), null, []);
        _sizes.Change(Key(1, 3), [], null);
        Assert.Empty(_sizes.All);
    }

    /// <summary>At each member that holds a shard: as many entries as were put there and not removed, and none of the other maps.</summary>
    [Fact]
    public async Task A_member_tells_the_entries_of_its_slice_for_each_map()
    {
        var world = DhtWorld.Founded(4);
        var dht = world.Members[0].Dht;
        var longs = dht.Map<string, long>("longs");
        for (int i = 0; i < 30; i++) await world.EndAsync(longs.PutAsync($"{i}:{i % 2}", i));
        for (int i = 0; i < 10; i++) await world.EndAsync(longs.RemoveAsync($"{i}:{i % 2}"));
        world.Settle();
        foreach (int shard in (int[])[0, 1])
        {
            foreach (var member in world.Initialised(shard))
            {
                var status = await world.EndAsync(member.Dht.StatusAsync());
                Assert.Equal(10, status.Maps.Single(static map => map.Name == "longs").Entries);
                // Keys of four characters, with a byte for their length; values of one byte.
                Assert.Equal(10 * (5 + 1), status.Maps.Single(static map => map.Name == "longs").Bytes);
                Assert.All(status.Maps.Where(static map => map.Name != "longs"), static map => Assert.Equal((0, 0), (map.Entries, map.Bytes)));
            }
        }
    }

    private static byte[] Key(ulong map, int length)
    {
        var key = new byte[KeyIdentity.MapBytes + length];
        BinaryPrimitives.WriteUInt64LittleEndian(key, map);
        return key;
    }
}
