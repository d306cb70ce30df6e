using System.Buffers;
using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>Declarations of layers, alone and together.</summary>
public sealed class LayerFramesTests
{
    [Theory]
    [InlineData("", 192, 1)]
    [InlineData("two words", 192, 1)]
    [InlineData("ä", 192, 1)]
    [InlineData("a-name-of-33-characters-is-1-more", 192, 1)]
    [InlineData("one", 191, 2)]
    [InlineData("one", 192, 0)]
    [InlineData("one", 192, -1)]
    [InlineData("one", 192, 64)]
    [InlineData("one", 254, 2)]
    [InlineData("one", 192, int.MaxValue)]
    public void What_is_no_name_or_no_range_is_refused(string name, int first, int count) => Assert.Throws<ArgumentException>(() => new LayerFrames(name, (FrameType)first, count));

    [Theory]
    [InlineData("one", 200, 20, "two", 219, 1)]
    [InlineData("one", 219, 1, "two", 200, 20)]
    [InlineData("one", 200, 20, "two", 200, 20)]
    [InlineData("one", 200, 20, "one", 240, 1)]
    [InlineData("one", 200, 20, "one", 200, 20)]
    public void Layers_that_have_something_in_common_are_refused_with_both_names(string name, int first, int count, string other, int otherFirst, int otherCount)
    {
        var options = new GroupHostOptions { Layers = [new("between", (FrameType)230, 1), new(name, (FrameType)first, count), new(other, (FrameType)otherFirst, otherCount)] };
        var error = Assert.Throws<ArgumentException>(() => GroupHostOptions.Validate(options));
        Assert.Contains($"\"{name}\" with the frame types {first} to {first + count - 1}", error.Message, StringComparison.Ordinal);
        Assert.Contains($"\"{other}\" with the frame types {otherFirst} to {otherFirst + otherCount - 1}", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Too_many_layers_and_none_at_all_are_refused()
    {
        var five = Enumerable.Range(0, GroupLimits.Layers + 1).Select(static i => new LayerFrames($"{i}", FrameType.FirstLayer + (byte)i, 1)).ToArray();
        GroupHostOptions.Validate(new() { Layers = five[1..] });
        Assert.Throws<ArgumentException>(() => GroupHostOptions.Validate(new() { Layers = five }));
        Assert.Throws<ArgumentException>(() => GroupHostOptions.Validate(new() { Layers = [null!] }));
        Assert.Throws<ArgumentException>(() => GroupHostOptions.Validate(new() { Layers = null! }));
    }

    [Fact]
    public void A_table_finds_the_layer_of_each_type()
    {
        var table = new LayerTable([new("high", (FrameType)250, 5), new("low", FrameType.FirstLayer, 3)]);
        Assert.Equal(("low", "high"), (table[0].Name, table[1].Name));
        for (int type = (int)FrameType.FirstLayer; type <= (int)FrameType.LastLayer; type++) Assert.Equal(type < 195 ? 0 : type < 250 ? -1 : 1, table.IndexOf((FrameType)type));
        Assert.Equal(1, table.IndexOf(new LayerFrames("high", (FrameType)250, 5)));
        Assert.Equal(-1, table.IndexOf(new LayerFrames("high", (FrameType)250, 4)));
    }

    [Theory]
    [InlineData("one", 192, 1)]
    [InlineData("a-name-of-32-characters-is-right", 192, 63)]
    [InlineData("~", 254, 1)]
    public void A_head_is_read_as_it_was_written(string name, int first, int count)
    {
        var layer = new LayerFrames(name, (FrameType)first, count);
        var into = new ArrayBufferWriter<byte>();
        layer.WriteHead(into);
        Assert.InRange(into.WrittenCount, 1, LayerFrames.MostHeadBytes);
        Assert.Equal(layer, LayerFrames.ReadHead([.. into.WrittenSpan, 1, 2, 3], out int length));
        Assert.Equal(into.WrittenCount, length);
        for (int cut = 0; cut < length; cut++) Assert.Null(LayerFrames.ReadHead(into.WrittenSpan[..cut], out _));
    }

    [Fact]
    public void Bytes_that_are_no_head_are_none()
    {
        var random = new Prng(1);
        for (int i = 0; i < 10_000; i++)
        {
            byte[] bytes = new byte[random.Next(50)];
            for (int at = 0; at < bytes.Length; at++) bytes[at] = (byte)(at == 0 ? random.Next(40) : random.Next(256));
            if (LayerFrames.ReadHead(bytes, out int length) is { } layer) Assert.Equal(layer.Name.Length + 3, length);
        }
    }
}
