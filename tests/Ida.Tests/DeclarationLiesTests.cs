using System.Buffers;
using System.Buffers.Binary;
using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Maps;
using Ida.ViewChange;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Lies about declarations are put where declarations are told: into what the DHT of a member contributes to a flush.</summary>
public sealed class DeclarationLiesTests
{
    private const int Part = 11;

    [Fact]
    public void A_contribution_gets_other_declarations_and_stays_one_but_for_what_nobody_can_have_declared()
    {
        byte[] body = Body(DhtFrame.Layer);
        var random = new Prng(1);
        int others = 0, refused = 0;
        for (int i = 0; i < 200; i++)
        {
            byte[] lie = Assert.IsType<byte[]>(DeclarationLies.Draw(body, random));
            Assert.Equal(body[..Part], lie[..Part]);
            Assert.Equal(DhtFrame.Layer, LayerFrames.ReadHead(lie.AsSpan(Part), out int head));
            if (Contribution.Read(default, lie.AsSpan(Part + head)) is { } read) others += read.Maps.Bytes.SequenceEqual(Maps.Bytes) ? 0 : 1;
            else refused++;
        }
        Assert.InRange(others, 60, 199);
        Assert.InRange(refused, 1, 140);
    }

    [Fact]
    public void What_another_layer_contributes_has_no_declarations() => Assert.Null(DeclarationLies.Draw(Body(ToyLayers.Second), new Prng(1)));

    private static MapSet Maps { get; } = MapSet.Of([new("stock", "System.String", "System.Int32", "", [])]);

    private static byte[] Body(LayerFrames layer)
    {
        var into = new ArrayBufferWriter<byte>();
        BinaryPrimitives.WriteUInt64LittleEndian(into.GetSpan(8), 3);
        into.Advance(8);
        into.Write<byte>([1, 0, 0]);
        layer.WriteHead(into);
        new Contribution { Member = FlatView.Id(0), Config = new(2, 4, "hash"), Maps = Maps }.Write(into);
        return into.WrittenSpan.ToArray();
    }
}
