using GroupCore.Groups;
using GroupCore.Wire;
using Ida.Testing;
using Oracle.Frames;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>One limit each, whoever checks it.</summary>
public sealed class LimitTests
{
    /// <summary>Before, 129 to 256 characters were accepted, and refused later by the Oracle.</summary>
    [Theory]
    [InlineData(42, true)]
    [InlineData(43, false)]
    public async Task F19_the_longest_name_of_a_group_is_the_same_for_the_caller_and_on_the_wire(int characters, bool fits)
    {
        string name = new('€', characters);
        var request = new RequestFrame(new(new(1, 1), 1, 1, new Join(name, new(), 0, "")));
        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(3);
        writer.WriteUInt(1);
        writer.WriteUInt(1);
        request.Write(ref writer);
        writer.Flush();
        Assert.Equal(fits, FrameCodec.TryRead(FrameType.OracleRequest, buffer.WrittenSpan, out _, out _));
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var node = simulation.AddNode();
        var host = new GroupHost(node.Node, new OracleMember(node.Node, new()), new() { Serializer = ContractSerializer.Instance });
        if (fits) return;
        var join = host.JoinAsync(name, _ => { }).AsTask();
        // It is refused before anything waits; there is nobody here who would end it later.
        Assert.True(join.IsCompleted);
        await Assert.ThrowsAsync<ArgumentException>(() => join);
    }
}
