using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>What a connection keeps of a frame of which only a part has arrived.</summary>
public sealed class InputBufferTests
{
    private const string There = "127.0.0.1:5";
    private const ulong Member = 77;

    /// <summary>Twelve bytes that promise the largest frame cost no more than twelve others.</summary>
    [Fact]
    public void A_buffer_grows_when_it_is_full_of_one_frame_and_not_by_the_length_that_is_said()
    {
        var node = new ScriptedNode();
        node.Mesh.Open(new(There), Member);
        var link = node.Dials(There);
        node.Answers(link, HelloStatus.Accepted, Member, 9);
        long others = node.Mesh.SlabBytes;
        var frame = new byte[LinkLimits.FrameBytes];
        FrameHeader.Write(frame, FrameType.Data, 0, 1, LinkLimits.FrameBytes - FrameHeader.Size);
        link.Say(ScriptedNode.Frames(0));
        int said = 0;
        foreach (int size in (int[])[SlabPool.SmallBytes, SlabPool.MediumBytes, LinkLimits.FrameBytes])
        {
            link.Say(frame[said..(size - 1)]);
            said = size - 1;
            node.Turn();
            Assert.Equal(size, node.Mesh.SlabBytes - others);
        }
        link.Say(frame[said..]);
        node.Turn();
        Assert.Single(node.Got);
        Assert.Equal(others, node.Mesh.SlabBytes);
    }
}
