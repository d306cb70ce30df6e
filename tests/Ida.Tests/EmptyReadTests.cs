namespace Ida.Tests;

/// <summary>A read of no key, as where the list came from elsewhere: wrong options are refused whatever the list has.</summary>
public sealed class EmptyReadTests
{
    [Fact]
    public async Task R_a_read_of_no_key_refuses_options_that_are_none()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, int>("ints");
        foreach (string[] keys in (string[][])[[], ["a0"], ["a0", "b1"]])
        {
            Assert.Throws<ArgumentOutOfRangeException>(() => Refused(map.GetAsync(keys, new() { Level = (ConsistencyLevel)7 })));
            Assert.Throws<ArgumentOutOfRangeException>(() => Refused(map.GetAsync(keys, new() { Timeout = TimeSpan.FromSeconds(-3) })));
        }
        for (int i = 0; i < 2; i++) Assert.Empty(await map.GetAsync([]));

        static void Refused(ValueTask<EntryDictionary<string, int>> read) => Assert.Fail($"It was taken: {read.IsCompleted}");
    }
}
