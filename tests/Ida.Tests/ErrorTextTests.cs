using System.Text;
using GroupCore.Wire.MessagePack;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Users' texts that are cut for error messages: no character is cut in two, and callers at all members are told the same.</summary>
public sealed class ErrorTextTests
{
    private const string Pair = "\U0001F34E";

    /// <summary>The pair lies before the cut, on it, and behind it.</summary>
    [Theory]
    [InlineData(6, 8)]
    [InlineData(7, 7)]
    [InlineData(8, 8)]
    public void A_surrogate_pair_is_kept_or_left_out(int at, int kept)
    {
        string text = "abcdefghij".Insert(at, Pair);
        Assert.Equal(text[..kept], ErrorText.Cut(text, 8));
        Assert.True(Utf8Text.IsKept(ErrorText.Cut(text, 8)));
        Assert.Equal(text, ErrorText.Cut(text, text.Length));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public async Task The_text_of_a_resolver_that_throws_is_whole_characters_and_the_same_at_all_members(int before)
    {
        // Half a pair at its beginning, and a pair at the cut.
        string thrown = "\uD83C" + new string('e', DhtLimits.ErrorChars - 3 + before) + Pair + "behind";
        var world = new DhtWorld { Declare = maps => maps.Map<string, string>("m").OnMerge<int>((_, _, _) => throw new InvalidDataException(thrown)) };
        world.Found(4);
        var told = new List<string>();
        foreach (var member in world.Members)
        {
            var error = await Assert.ThrowsAsync<ResolverException>(() => world.EndAsync(member.Dht.Map<string, string>("m").MergeAsync("a0", 1)));
            told.Add(error.Message);
            Assert.True(Utf8Text.IsKept(error.Message), error.Message);
            Assert.Contains("\uFFFDe", error.Message, StringComparison.Ordinal);
            Assert.Equal(before == 0, error.Message.Contains(Pair, StringComparison.Ordinal));
        }
        Assert.Single(told.Distinct());
        world.AssertIdle();
    }

    [Fact]
    public async Task The_text_of_a_key_is_whole_characters()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new FailingHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        string key = new string('k', 99) + Pair + "k";
        var error = await Assert.ThrowsAsync<UserCodeException>(() => world.EndAsync(world.Members[1].Dht.Map<string, string>("texts").GetAsync(key)));
        Assert.Equal(new string('k', 99), error.Key);
        Assert.True(Utf8Text.IsKept(error.Message));
        Assert.Equal(error.Message, Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(error.Message)));
    }

    private sealed class FailingHash : IStableHash
    {
        public string Name => "failing";

        public ulong Hash(ReadOnlySpan<byte> key) => throw new InvalidOperationException("No hash.");
    }
}
